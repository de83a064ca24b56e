/**
 * Bundles the command line into dist/, or into the folder that is named, for `bin` and for publishing: plain JavaScript, one chunk a command.
 *
 * Run by npm as `prepare`, so a clean checkout has its `sallyport` after `npm ci`.
 */
import { chmod, rm } from 'node:fs/promises'
import { build } from 'esbuild'

const outdir = process.argv[2] ?? 'dist'

await rm(outdir, { recursive: true, force: true })
await build({
  // The worker is a file of its own, beside the chunk that starts it.
  entryPoints: { sallyport: 'src/cli/main.ts', 'hash-worker': 'src/store/hash-worker.ts' },
  outdir,
  bundle: true,
  // The ES module where a package has both: an `import()` of CommonJS would give its names only as `default`.
  mainFields: ['module', 'main'],
  splitting: true,
  minifySyntax: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  logLevel: 'warning',
  // Some dependencies are CommonJS and ask for built-ins with require().
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)",
  },
})
await chmod(`${outdir}/sallyport.js`, 0o755)
