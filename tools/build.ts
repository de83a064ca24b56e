/**
 * Bundles the command line into dist/, for `bin` and for publishing: plain JavaScript, one chunk a command.
 *
 * Run by npm as `prepare`, so a clean checkout has its `sallyport` after `npm ci`.
 */
import { chmod, rm } from 'node:fs/promises'
import { build } from 'esbuild'

await rm('dist', { recursive: true, force: true })
await build({
  entryPoints: { sallyport: 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  minifySyntax: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  logLevel: 'warning',
  // Some dependencies are CommonJS and ask for built-ins with require().
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
})
await chmod('dist/sallyport.js', 0o755)
