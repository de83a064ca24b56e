/** Writes the pages of docs/ that are printed from the sources: `npm run docs`. */
import { writeFile } from 'node:fs/promises'
import { renderErrorsPage } from './errors-page.ts'
import { renderSitePage } from './site-page.ts'

await writeFile(new URL('../docs/errors.md', import.meta.url), renderErrorsPage())
await writeFile(new URL('../docs/sallyport-yaml.md', import.meta.url), renderSitePage())
