/**
 * What distribution-spec 1.1 asks of a registry, in the four workflows of the OCI's own suite: pull, push, content
 * discovery, content management. Written against the text of the specification; the section is named at each group.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { type Digest, digestOf } from '../../src/oci/digest.ts'
import { manifestAccept, mediaTypes } from '../../src/oci/media-type.ts'
import { type WireAnswer, wire } from '../../testkit/wire.ts'

/** Where a registry differs from the specification, so that the rest can still be held. */
export interface Deviations {
  /** docker-registry 2.8 answers 202 to a POST that carries the whole blob. */
  readonly noSinglePost?: boolean
  /** docker-registry 2.8 answers 500 to a chunk that is out of order. */
  readonly noChunkOrder?: boolean
  /** docker-registry 2.8 has neither `OCI-Subject` nor the referrers API. */
  readonly noReferrers?: boolean
  /** docker-registry 2.8 ignores `n` and `last` of a list of tags. */
  readonly noTagPages?: boolean
  /** docker-registry 2.8 lists tags in the order of the directory. */
  readonly noTagOrder?: boolean
  /** docker-registry 2.8 cuts the connection where a range goes beyond the end. */
  readonly noRangeChecks?: boolean
  /** docker-registry 2.8 answers 400 to the deletion of a tag. */
  readonly noTagDeletion?: boolean
  /** docker-registry 2.8 forgets a repository whose last tag is gone. */
  readonly noUntaggedRepositories?: boolean
  readonly noSha512?: boolean
  readonly noAnonymousMount?: boolean
}

/** Declares the suite. `baseUrl` is asked for inside the tests, when the registry runs. */
export function distributionContract(
  name: string,
  baseUrl: () => string | undefined,
  deviations: Deviations = {},
): void {
  const repository = (path: string) => new RepositoryClient(`${baseUrl()}/v2/${path}`, path)
  const check = (title: string, isDeviation: boolean | undefined, action: () => Promise<void>) =>
    test(title, async (t) => {
      if (baseUrl() === undefined) return t.skip('this registry is not installed')
      if (isDeviation) return t.skip('a known deviation of this registry')
      await action()
    })
  describe(name, () => {
    describe('pull', () => pullContract(repository, check, deviations))
    describe('push', () => pushContract(repository, check, deviations))
    describe('content discovery', () => discoveryContract(repository, check, deviations))
    describe('content management', () => managementContract(repository, check, deviations))
  })
}

type Check = (title: string, isDeviation: boolean | undefined, action: () => Promise<void>) => void
type Open = (path: string) => RepositoryClient

class RepositoryClient {
  readonly url: string
  readonly path: string

  constructor(url: string, path: string) {
    this.url = url
    this.path = path
  }

  async startUpload(query = ''): Promise<URL> {
    const started = await wire(`${this.url}/blobs/uploads/${query}`, {
      method: 'POST',
      headers: { 'Content-Length': 0 },
    })
    assert.equal(started.status, 202)
    return new URL(started.headers.location ?? '', this.url)
  }

  async pushBlob(bytes: Uint8Array, digest: Digest = digestOf(bytes)): Promise<Digest> {
    const answer = await finish(await this.startUpload(), digest, bytes)
    assert.equal(answer.status, 201)
    return digest
  }

  async pushManifest(manifest: object, tag?: string): Promise<Digest> {
    const body = JSON.stringify(manifest)
    const answer = await this.putManifest(tag ?? digestOf(body), body)
    assert.equal(answer.status, 201, answer.body.toString())
    return digestOf(body)
  }

  putManifest(target: string, body: string, type?: string): Promise<WireAnswer> {
    const declared = (JSON.parse(body) as { mediaType?: string }).mediaType ?? mediaTypes.ociManifest
    return wire(`${this.url}/manifests/${target}`, {
      method: 'PUT',
      body,
      headers: { 'Content-Type': type ?? declared },
    })
  }

  /** A small image, with its blobs; `extra` fields make it another one. */
  async pushImage(extra: object = {}, tag?: string): Promise<{ digest: Digest; layer: Digest; size: number }> {
    const config = Buffer.from(
      JSON.stringify({ architecture: 'amd64', os: 'linux', seed: randomBytes(8).toString('hex') }),
    )
    const layer = randomBytes(2000)
    const manifest = {
      schemaVersion: 2,
      mediaType: mediaTypes.ociManifest,
      config: { mediaType: mediaTypes.ociConfig, digest: await this.pushBlob(config), size: config.byteLength },
      layers: [{ mediaType: mediaTypes.ociLayerGzip, digest: await this.pushBlob(layer), size: layer.byteLength }],
      ...extra,
    }
    const size = Buffer.byteLength(JSON.stringify(manifest))
    return { digest: await this.pushManifest(manifest, tag), layer: digestOf(layer), size }
  }

  get(path: string, headers: Record<string, string> = {}): Promise<WireAnswer> {
    return wire(`${this.url}/${path}`, { headers: { Accept: manifestAccept, ...headers } })
  }

  head(path: string): Promise<WireAnswer> {
    return wire(`${this.url}/${path}`, { method: 'HEAD', headers: { Accept: manifestAccept } })
  }

  delete(path: string): Promise<WireAnswer> {
    return wire(`${this.url}/${path}`, { method: 'DELETE' })
  }
}

function finish(
  location: URL,
  digest: Digest,
  body?: Uint8Array,
  headers: Record<string, string> = {},
): Promise<WireAnswer> {
  const url = new URL(location)
  url.searchParams.set('digest', digest)
  return wire(url.href, { method: 'PUT', headers, body: body ?? '' })
}

function patch(location: URL, body: Uint8Array, range?: string): Promise<WireAnswer> {
  return wire(location.href, { method: 'PATCH', body, headers: range === undefined ? {} : { 'Content-Range': range } })
}

function locationOf(answer: WireAnswer, base: URL): URL {
  return new URL(answer.headers.location ?? '', base)
}

/** Sections "Pulling manifests", "Pulling blobs", "Checking if content exists in the registry". */
function pullContract(open: Open, check: Check, deviations: Deviations): void {
  check('the base endpoint answers 200', false, async () => {
    assert.equal((await wire(new URL('/v2/', open('any').url).href)).status, 200)
  })

  check('a manifest is the same by tag and by digest, to GET and to HEAD', false, async () => {
    const repository = open('contract/pull')
    const { digest, size } = await repository.pushImage({}, 'v1')
    for (const target of ['v1', digest]) {
      for (const answer of [
        await repository.get(`manifests/${target}`),
        await repository.head(`manifests/${target}`),
      ]) {
        assert.equal(answer.status, 200)
        assert.equal(answer.headers['docker-content-digest'], digest)
        assert.equal(answer.headers['content-type'], mediaTypes.ociManifest)
        assert.equal(answer.headers['content-length'], String(size))
      }
      assert.equal(digestOf((await repository.get(`manifests/${target}`)).body), digest)
    }
  })

  check('a blob is the same to GET and to HEAD', false, async () => {
    const repository = open('contract/pull')
    const bytes = randomBytes(70_000)
    const digest = await repository.pushBlob(bytes)
    const head = await repository.head(`blobs/${digest}`)
    assert.equal(head.status, 200)
    assert.equal(head.headers['content-length'], '70000')
    assert.equal(head.headers['docker-content-digest'], digest)
    assert.deepEqual((await repository.get(`blobs/${digest}`)).body, bytes)
  })

  check(
    'a part of a blob is answered with 206 and its place, one beyond its end with 416',
    deviations.noRangeChecks,
    async () => {
      const repository = open('contract/pull')
      const bytes = randomBytes(5000)
      const digest = await repository.pushBlob(bytes)
      const part = await repository.get(`blobs/${digest}`, { Range: 'bytes=1000-1999' })
      assert.equal(part.status, 206)
      assert.equal(part.headers['content-range'], 'bytes 1000-1999/5000')
      assert.deepEqual(part.body, bytes.subarray(1000, 2000))
      const tail = await repository.get(`blobs/${digest}`, { Range: 'bytes=4000-' })
      assert.deepEqual(tail.body, bytes.subarray(4000))
      const suffix = await repository.get(`blobs/${digest}`, { Range: 'bytes=-10' })
      assert.deepEqual(suffix.body, bytes.subarray(-10))
      assert.equal((await repository.get(`blobs/${digest}`, { Range: 'bytes=5000-' })).status, 416)
    },
  )

  check('what is not there is answered with 404, and with a code where there is a body', false, async () => {
    const repository = open('contract/pull')
    await repository.pushImage({}, 'v1')
    const absent = digestOf(randomBytes(10))
    for (const path of [`blobs/${absent}`, `manifests/${absent}`, 'manifests/absent', 'manifests/.not-a-tag'])
      for (const answer of [await repository.get(path), await repository.head(path)])
        assert.equal(answer.status, 404, path)
    assert.equal((await repository.get(`blobs/${absent}`)).errorCode(), 'BLOB_UNKNOWN')
    assert.equal((await repository.get('manifests/absent')).errorCode(), 'MANIFEST_UNKNOWN')
    assert.equal((await open('contract/nowhere').get('tags/list')).status, 404)
  })
}

/** Sections "Pushing blobs", "Mounting a blob from another repository", "Pushing Manifests". */
function pushContract(open: Open, check: Check, deviations: Deviations): void {
  const repository = () => open('contract/push')

  check('a blob in one PUT after a POST', false, async () => {
    const bytes = randomBytes(100_000)
    const answer = await finish(await repository().startUpload(), digestOf(bytes), bytes)
    assert.equal(answer.status, 201)
    assert.deepEqual((await wire(locationOf(answer, new URL(repository().url)).href)).body, bytes)
  })

  check('a blob in a single POST', deviations.noSinglePost, async () => {
    const bytes = randomBytes(1000)
    const answer = await wire(`${repository().url}/blobs/uploads/?digest=${digestOf(bytes)}`, {
      method: 'POST',
      body: bytes,
    })
    assert.equal(answer.status, 201)
    assert.deepEqual((await repository().get(`blobs/${digestOf(bytes)}`)).body, bytes)
  })

  check('a blob in chunks, the last one by PATCH or by PUT', false, async () => {
    for (const lastBy of ['PATCH', 'PUT']) {
      const bytes = randomBytes(150_000)
      const first = await repository().startUpload()
      const one = await patch(first, bytes.subarray(0, 100_000), '0-99999')
      assert.equal(one.status, 202)
      assert.equal(one.headers.range, '0-99999')
      const second = locationOf(one, first)
      const rest = bytes.subarray(100_000)
      const two = lastBy === 'PATCH' ? await patch(second, rest, '100000-149999') : undefined
      const last = two === undefined ? second : locationOf(two, second)
      const answer = await finish(last, digestOf(bytes), two === undefined ? rest : undefined)
      assert.equal(answer.status, 201)
      assert.equal((await repository().head(`blobs/${digestOf(bytes)}`)).headers['content-length'], '150000')
    }
  })

  check('a blob as a stream of unknown length', false, async () => {
    const pieces = [randomBytes(70_000), randomBytes(30_000)]
    const location = await repository().startUpload()
    const sent = await wire(location.href, { method: 'PATCH', chunks: pieces })
    assert.equal(sent.status, 202)
    assert.equal(sent.headers.range, '0-99999')
    assert.equal((await finish(locationOf(sent, location), digestOf(Buffer.concat(pieces)))).status, 201)
  })

  check('a chunk out of order is refused with 416, and the upload can go on', deviations.noChunkOrder, async () => {
    const bytes = randomBytes(3000)
    const location = await repository().startUpload()
    assert.equal((await patch(location, bytes.subarray(1000, 2000), '1000-1999')).status, 416)
    const one = await patch(location, bytes.subarray(0, 1000), '0-999')
    assert.equal(one.status, 202)
    assert.equal((await patch(locationOf(one, location), bytes.subarray(0, 1000), '0-999')).status, 416)
    assert.equal(
      (await finish(locationOf(one, location), digestOf(bytes), bytes, { 'Content-Range': '5-3004' })).status,
      416,
    )
    const status = await wire(locationOf(one, location).href)
    assert.equal(status.status, 204)
    assert.equal(status.headers.range, '0-999')
    const answer = await finish(locationOf(status, location), digestOf(bytes), bytes.subarray(1000))
    assert.equal(answer.status, 201)
  })

  check('other bytes than the digest says are refused and not kept', false, async () => {
    const claimed = digestOf(randomBytes(10))
    const answer = await finish(await repository().startUpload(), claimed, randomBytes(1000))
    assert.equal(answer.status, 400)
    assert.equal(answer.errorCode(), 'DIGEST_INVALID')
    assert.equal((await repository().head(`blobs/${claimed}`)).status, 404)
  })

  check('a cancelled upload is gone', false, async () => {
    const location = await repository().startUpload()
    assert.equal((await wire(location.href, { method: 'DELETE' })).status, 204)
    assert.equal((await wire(location.href)).status, 404)
  })

  check('a blob under sha512', deviations.noSha512, async () => {
    const bytes = randomBytes(1000)
    const digest = digestOf(bytes, 'sha512')
    assert.equal((await finish(await repository().startUpload('?digest-algorithm=sha512'), digest, bytes)).status, 201)
    assert.equal((await finish(await repository().startUpload(), digest, bytes)).status, 201)
    assert.deepEqual((await repository().get(`blobs/${digest}`)).body, bytes)
  })

  check('an empty blob', false, async () => {
    const digest = await repository().pushBlob(Buffer.alloc(0))
    assert.equal((await repository().get(`blobs/${digest}`)).headers['content-length'], '0')
  })

  check('a blob is mounted from another repository without its bytes', false, async () => {
    const bytes = randomBytes(1000)
    const digest = await repository().pushBlob(bytes)
    const other = open('contract/mount')
    const answer = await wire(`${other.url}/blobs/uploads/?mount=${digest}&from=${repository().path}`, {
      method: 'POST',
    })
    assert.equal(answer.status, 201)
    assert.deepEqual((await other.get(`blobs/${digest}`)).body, bytes)
  })

  check('a blob is mounted from wherever it is', deviations.noAnonymousMount, async () => {
    const digest = await repository().pushBlob(randomBytes(1000))
    const other = open('contract/mount-anonymous')
    assert.equal((await wire(`${other.url}/blobs/uploads/?mount=${digest}`, { method: 'POST' })).status, 201)
    assert.equal((await other.head(`blobs/${digest}`)).status, 200)
  })

  check('a mount of what is not there opens an upload instead', false, async () => {
    const absent = digestOf(randomBytes(10))
    for (const from of ['', '&from=contract/nowhere']) {
      const answer = await wire(`${repository().url}/blobs/uploads/?mount=${absent}${from}`, { method: 'POST' })
      assert.equal(answer.status, 202)
      assert.ok(answer.headers.location)
    }
  })

  check('a manifest that names a missing blob is refused', false, async () => {
    const missing = { mediaType: mediaTypes.ociConfig, digest: digestOf('missing'), size: 7 }
    const body = JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.ociManifest, config: missing, layers: [] })
    const answer = await repository().putManifest('broken', body)
    assert.ok(answer.status === 404 || answer.status === 400)
    assert.equal(answer.errorCode(), 'MANIFEST_BLOB_UNKNOWN')
    assert.equal((await repository().get('manifests/broken')).status, 404)
  })

  check('what is no manifest, or not the one its digest says, is refused', false, async () => {
    assert.equal((await repository().putManifest('text', '"no manifest"')).status, 400)
    const { digest } = await repository().pushImage()
    const body = (await repository().get(`manifests/${digest}`)).body.toString()
    assert.equal((await repository().putManifest(digestOf('another'), body)).status, 400)
  })

  check('Docker schema 2 images and lists keep their media types', false, async () => {
    const config = await repository().pushBlob(Buffer.from('{}'))
    const image = {
      schemaVersion: 2,
      mediaType: mediaTypes.dockerManifest,
      config: { mediaType: mediaTypes.dockerConfig, digest: config, size: 2 },
      layers: [],
    }
    const child = await repository().pushManifest(image)
    const size = JSON.stringify(image).length
    const platform = { os: 'linux', architecture: 'amd64' }
    const manifests = [{ mediaType: mediaTypes.dockerManifest, digest: child, size, platform }]
    await repository().pushManifest({ schemaVersion: 2, mediaType: mediaTypes.dockerList, manifests }, 'list')
    assert.equal(
      (await repository().get(`manifests/${child}`, { Accept: mediaTypes.dockerManifest })).headers['content-type'],
      mediaTypes.dockerManifest,
    )
    assert.equal(
      (await repository().get('manifests/list', { Accept: mediaTypes.dockerList })).headers['content-type'],
      mediaTypes.dockerList,
    )
  })
}

/** Sections "Listing Tags" and "Listing Referrers". */
function discoveryContract(open: Open, check: Check, deviations: Deviations): void {
  check('tags are listed in order', deviations.noTagOrder, async () => {
    const repository = open('contract/tags')
    for (const tag of ['b', 'c', 'a', 'd']) await repository.pushImage({}, tag)
    assert.deepEqual((await repository.get('tags/list')).json(), { name: 'contract/tags', tags: ['a', 'b', 'c', 'd'] })
  })

  check('tags come in pages, by number and by the last one seen', deviations.noTagPages, async () => {
    const repository = open('contract/tags')
    for (const tag of ['b', 'c', 'a', 'd']) await repository.pushImage({}, tag)
    const tagsOf = (answer: WireAnswer) => answer.json()['tags']
    const first = await repository.get('tags/list?n=2')
    assert.deepEqual(tagsOf(first), ['a', 'b'])
    const next = /<([^>]+)>; rel="next"/.exec(String(first.headers['link']))?.[1] ?? ''
    const second = await wire(new URL(next, repository.url).href)
    assert.deepEqual(tagsOf(second), ['c', 'd'])
    assert.equal(second.headers['link'], undefined)
    assert.deepEqual(tagsOf(await repository.get('tags/list?last=b')), ['c', 'd'])
    assert.deepEqual(tagsOf(await repository.get('tags/list?n=1&last=aa')), ['b'])
    const none = await repository.get('tags/list?n=0')
    assert.deepEqual(tagsOf(none), [])
    assert.equal(none.headers['link'], undefined)
  })

  check('a repository without tags has an empty list', deviations.noUntaggedRepositories, async () => {
    const repository = open('contract/digest-only')
    await repository.pushImage()
    assert.deepEqual((await repository.get('tags/list')).json(), { name: 'contract/digest-only', tags: [] })
  })

  check('manifests with a subject are listed with it, in either order of pushing', deviations.noReferrers, async () => {
    const repository = open('contract/referrers')
    const body = {
      schemaVersion: 2,
      mediaType: mediaTypes.ociIndex,
      manifests: [],
      annotations: { late: randomBytes(4).toString('hex') },
    }
    const subject = {
      mediaType: mediaTypes.ociIndex,
      digest: digestOf(JSON.stringify(body)),
      size: JSON.stringify(body).length,
    }
    const signature = await repository.pushImage({
      subject,
      artifactType: 'application/x-signature',
      annotations: { by: 'us' },
    })
    const fromConfig = await repository.pushImage({ subject })
    await repository.pushManifest(body)
    const answer = await repository.get(`referrers/${subject.digest}`)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], mediaTypes.ociIndex)
    const listed = answer.json()['manifests'] as {
      digest: string
      artifactType: string
      annotations?: object
      size: number
    }[]
    assert.deepEqual(listed.map(({ digest }) => digest).sort(), [signature.digest, fromConfig.digest].sort())
    const one = listed.find(({ digest }) => digest === signature.digest)
    assert.deepEqual(one, {
      mediaType: mediaTypes.ociManifest,
      digest: signature.digest,
      size: signature.size,
      artifactType: 'application/x-signature',
      annotations: { by: 'us' },
    })
    assert.equal(listed.find(({ digest }) => digest === fromConfig.digest)?.artifactType, mediaTypes.ociConfig)
  })

  check('referrers are filtered by their type', deviations.noReferrers, async () => {
    const repository = open('contract/referrers-filter')
    const { digest, size } = await repository.pushImage()
    const subject = { mediaType: mediaTypes.ociManifest, digest, size }
    const wanted = await repository.pushImage({ subject, artifactType: 'application/x-a' })
    await repository.pushImage({ subject, artifactType: 'application/x-b' })
    const answer = await repository.get(`referrers/${digest}?artifactType=application%2Fx-a`)
    assert.equal(answer.headers['oci-filters-applied'], 'artifactType')
    assert.deepEqual(
      (answer.json()['manifests'] as { digest: string }[]).map((one) => one.digest),
      [wanted.digest],
    )
  })

  check(
    'a push with a subject says so; no referrers is an empty list; a bad digest is refused',
    deviations.noReferrers,
    async () => {
      const repository = open('contract/referrers-empty')
      const { digest, size } = await repository.pushImage()
      const empty = await repository.get(`referrers/${digest}`)
      assert.equal(empty.status, 200)
      assert.deepEqual(empty.json()['manifests'], [])
      const config = { mediaType: mediaTypes.ociEmpty, digest: await repository.pushBlob(Buffer.from('{}')), size: 2 }
      const body = JSON.stringify({
        schemaVersion: 2,
        mediaType: mediaTypes.ociManifest,
        config,
        layers: [],
        subject: { mediaType: mediaTypes.ociManifest, digest, size },
      })
      assert.equal((await repository.putManifest(digestOf(body), body)).headers['oci-subject'], digest)
      assert.equal((await repository.get('referrers/sha256:short')).status, 400)
    },
  )
}

/** Sections "Deleting tags", "Deleting Manifests", "Deleting Blobs". */
function managementContract(open: Open, check: Check, deviations: Deviations): void {
  check('a deleted tag is gone, and its manifest stays', deviations.noTagDeletion, async () => {
    const repository = open('contract/delete')
    const { digest } = await repository.pushImage({}, 'short-lived')
    assert.equal((await repository.delete('manifests/short-lived')).status, 202)
    assert.equal((await repository.get('manifests/short-lived')).status, 404)
    assert.equal((await repository.get(`manifests/${digest}`)).status, 200)
    assert.equal((await repository.delete('manifests/short-lived')).status, 404)
  })

  check('a deleted manifest is gone by digest and by tag', false, async () => {
    const repository = open('contract/delete')
    const { digest } = await repository.pushImage({}, 'doomed')
    assert.equal((await repository.delete(`manifests/${digest}`)).status, 202)
    assert.equal((await repository.get(`manifests/${digest}`)).status, 404)
    assert.equal((await repository.get('manifests/doomed')).status, 404)
  })

  check('a deleted manifest is no referrer any more', deviations.noReferrers, async () => {
    const repository = open('contract/delete')
    const { digest, size } = await repository.pushImage()
    const referrer = await repository.pushImage({ subject: { mediaType: mediaTypes.ociManifest, digest, size } })
    assert.equal((await repository.delete(`manifests/${referrer.digest}`)).status, 202)
    assert.deepEqual((await repository.get(`referrers/${digest}`)).json()['manifests'], [])
  })

  check('a deleted blob is gone from its repository, and from no other', false, async () => {
    const repository = open('contract/delete')
    const other = open('contract/delete-not')
    const bytes = randomBytes(100)
    const digest = await repository.pushBlob(bytes)
    await other.pushBlob(bytes)
    assert.equal((await repository.delete(`blobs/${digest}`)).status, 202)
    assert.equal((await repository.head(`blobs/${digest}`)).status, 404)
    assert.equal((await repository.delete(`blobs/${digest}`)).status, 404)
    assert.equal((await other.get(`blobs/${digest}`)).status, 200)
  })
}
