import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { makeCatalogImage } from '../../testkit/catalog-image.ts'
import { generatedCatalog } from '../../testkit/generated-catalog.ts'
import { writeLayout } from '../../testkit/layout.ts'
import { peer } from '../../testkit/peers.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import type { SampleImage } from '../quickstart/sample-image.ts'
import { LayoutSource } from '../store/layout-source.ts'
import { openCatalogImage } from './catalog-files-image.ts'
import { readCatalog } from './read-catalog.ts'
import { type RebuiltCatalog, rebuildCatalog } from './rebuild.ts'
import { selectBundles } from './select-bundles.ts'

const run = promisify(execFile)

/** A directory with a layout `before`, of a catalog image, and one `after`, of what it was rebuilt to. */
async function rebuiltLayout(t: TestContext): Promise<string> {
  const files = new Map<string, Uint8Array>()
  const generated = generatedCatalog({ packages: 3, bundles: 4, bundleBytes: 500, isReversed: false })
  for await (const { path, open } of generated.files()) files.set(path, Buffer.concat(await Array.fromAsync(open())))
  const base = makeCatalogImage({ files, tag: 'v1' })
  const directory = await tempDir(t)
  const [before, after] = [join(directory, 'before'), join(directory, 'after')]
  await writeLayout(before, [base])
  const source = await LayoutSource.open(before)
  const { digest } = source.choose('v1')
  const reference = { registry: 'layout.invalid', repository: 'olm/catalog', digest }
  const image = await openCatalogImage(reference, { source })
  const catalog = await readCatalog(image.files)
  const made = await rebuildCatalog({
    source,
    reference,
    files: image.files,
    catalog,
    selection: selectBundles(catalog, { packages: [{ name: 'operator-0001' }] }),
    directory: join(await tempDir(t), 'catalog'),
    signal: new AbortController().signal,
  })
  await writeLayout(after, [imageOf(made, base)])
  return directory
}

function imageOf(made: RebuiltCatalog, base: SampleImage): SampleImage {
  const [manifest] = made.manifests
  assert.ok(manifest)
  const { descriptor } = manifest
  const own = [...made.blobs].map(([digest, open]) => ({
    descriptor: { mediaType: '', digest, size: 0 },
    open: (offset = 0) => open({ offset }),
  }))
  return {
    digest: descriptor.digest,
    descriptor,
    manifests: [{ ...manifest, tag: 'filtered' }],
    blobs: [...base.blobs, ...own],
  }
}

test('podman unpacks the filtered catalog alone, readable by any user, with /tmp still open to all', async (t) => {
  const podman = peer(t, 'podman')
  if (podman === undefined) return
  // A part of the path becomes the name of the image, and a name has no capital letters.
  const cwd = await rebuiltLayout(t)
  const storage = await tempDir(t)
  const own = ['--root', join(storage, 'root'), '--runroot', join(storage, 'run'), '--storage-driver', 'vfs']
  const { stdout: image } = await run(podman, [...own, 'pull', '--quiet', 'oci:after:filtered'], { cwd })
  const { stdout: container } = await run(podman, [...own, 'create', '--network', 'none', image.trim()])
  const exported = join(storage, 'exported.tar')
  await run(podman, [...own, 'export', '--output', exported, container.trim()])
  const { stdout } = await run('tar', ['-tvf', exported])
  const entries = stdout.split('\n').flatMap((line) => {
    const [mode, , , , , name = ''] = line.split(/\s+/)
    return /^(?:configs|tmp)/.test(name) ? [`${mode} ${name}`] : []
  })
  assert.deepEqual(entries.sort(), [
    '-rw-r--r-- configs/operator-0001/catalog.json',
    'drwxr-xr-x configs/',
    'drwxr-xr-x configs/operator-0001/',
    'drwxrwxrwt tmp/',
  ])
})
