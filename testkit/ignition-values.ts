/** Random values for the fields of Ignition configs: of each kind sound ones, and such as are wrong in one way or another. */
import fc from 'fast-check'

/** How much of a hundred is wrong: 0 for configs that are to be sound. */
export type Faultiness = number

export type TextPool = (faultiness: Faultiness) => fc.Arbitrary<string>

/** Sound ones mostly, wrong ones as often as is asked for. */
function pool(sound: fc.Arbitrary<string>, wrong: fc.Arbitrary<string>): TextPool {
  return (faultiness) =>
    faultiness === 0
      ? sound
      : fc.oneof({ weight: 100 - faultiness, arbitrary: sound }, { weight: faultiness, arbitrary: wrong })
}

const one = (...texts: readonly string[]) => fc.constantFrom(...texts)

/** Texts put together from pieces, which is how most odd ones come about. */
function pieces(...texts: readonly string[]): fc.Arbitrary<string> {
  return fc.array(one(...texts), { maxLength: 7 }).map((parts) => parts.join(''))
}

const word = fc.stringMatching(/^[a-z][a-z0-9]{2,9}$/)

export const paths: TextPool = pool(
  fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`),
  fc.oneof(
    one('', '/', 'relative', '/a/', '//a', '/a/../b', '/a/./b', '/a/..b', '/...', '/a', '/a/b', '/a/b/c', '/a b/é'),
    one('/etc/systemd/system/a.service', '/etc/systemd/system/a.service.d/10.conf', '/etc/systemd/system'),
    pieces('/', '.', '..', 'a', '/b', '/../', ' '),
  ),
)

export const devices: TextPool = pool(
  word.map((name) => `/dev/disk/by-id/${name}`),
  one('', 'vda', ...['/dev/vda', '/dev/vda', '/dev/vda', '/dev/vdb'], '/dev//vda', 'tag', `/dev/${'x'.repeat(40)}`),
)

export const names: TextPool = pool(word, one('', 'a', 'a', 'a/b', 'a:b', 'é', 'x'.repeat(40), 'core'))

export const labels: TextPool = pool(
  fc.stringMatching(/^[a-z]{1,10}$/),
  fc.oneof(
    fc.nat({ max: 260 }).map((length) => 'l'.repeat(length)),
    fc.nat({ max: 20 }).map((length) => 'é'.repeat(length)),
    fc.constantFrom(...[11, 12, 13, 15, 16, 17, 36, 37, 47, 48, 256, 257]).map((length) => 'm'.repeat(length)),
    one('', 'a:b', 'root', 'root', '\u{1f600}', '\ud800'),
  ),
)

const hex = (length: number) => 'ab12'.repeat(length / 4)

export const hashes: TextPool = pool(
  one(`sha512-${hex(128)}`),
  one('', 'sha512', 'sha512-', `sha256-${hex(64)}`, `sha256-${hex(128)}`, `md5-${hex(32)}`, 'sha512-x', `-${hex(64)}`),
)

export const guids: TextPool = pool(
  one('01234567-89AB-CDEF-EDCB-A98765432101', ''),
  one('0', 'g1234567-89AB-CDEF-EDCB-A98765432101', '01234567-89AB-CDEF-EDCB-A98765432101\n', 'ABCDEF'),
)

const base64Data = fc.oneof(
  fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  pieces('QUJD', 'QQ==', 'QUI=', 'A', '=', '\n', 'AAAA'),
  pieces('QUJD', 'AA', ' ', '-', '%3D', 'é', '\r'),
)

const plainData = fc.oneof(
  pieces('a', '%41', '?', '&', '+', ',', '/'),
  pieces('a', '%41', '%4', '%zz', '%', ' ', '#', 'é', '<', '"', '\n', '\0', '|'),
)

const mediaTypes = pieces(
  ...['text/plain', 'text', 'x-own/type', 'xy/z', 'image/png', '/', 'foo/bar', ';', ';charset=utf-8', ';a="b c"'],
  ...[';a=', ';a="\\x41"', ';a="', ';=', ';a=%41', ';a=%4', 'é', ';a=""', ';a="\\q"', '/b;a=b', '#;a="\n"'],
)

const soundHeads = one('', 'text/plain', 'text/plain;charset=utf-8', 'x-own/type;a="b"', ';a=b')

const dataUrls = fc
  .oneof(
    fc.tuple(soundHeads, one(';base64,'), base64Data),
    fc.tuple(soundHeads, one(','), plainData),
    fc.tuple(mediaTypes, one(',', ',', ';base64,', ';BASE64,', 'base64,', ''), one('', 'a', 'QUJD', 'AAA')),
  )
  .map((parts) => `data:${parts.join('')}`)

const arns = pieces('arn:', 'aws', ':', 's3', ':', ':', ':', 'bucket', '/', 'accesspoint/', 'ec2', '?versionId=', '//')

/** Nothing that Go judges by its own version, as it does IPv6 addresses that are none, and second colons. */
const authorities = [
  ...[
    'host',
    'host:80',
    'host:',
    'host:8x',
    'user:pass@host',
    'us er@host',
    '@',
    '',
    ':',
    'é',
    '%e9',
    '%41',
    'a%zz',
    'a b',
  ],
  ...[
    '[::1]',
    '[::1]:80',
    '[::1]x',
    '[::1',
    '[fe80::1%25eth0]',
    'a<b',
    'a|b',
    'a"b',
    'ho]st',
    'x[::1]',
    'u%zz@host',
    '%25',
  ],
]

const webUrls = fc
  .tuple(
    one('http:', 'https:', 's3:', 'tftp:', 'gs:', 'HTTP:', 'ftp:', 'file:', '', ':', '1http:', 'h_ttp:', 'oem:'),
    one('//', '//', '//', '', '/', '///'),
    one(...authorities),
    one('', '/', '/path', '/a b', '/%zz', '/%41', '*'),
    one(
      ...['', '', '?versionId=1', '?versionId=', '?versionId', '?a=b&versionId=', '?%zz=1&versionId='],
      '?a;b&versionId=',
    ),
    one('', '', '', '#frag', '#%zz', '#', '??'),
  )
  .map((parts) => parts.join(''))

export const sources: TextPool = pool(
  fc.oneof(
    word.map((text) => `data:,${text}`),
    word.map((text) => `data:text/plain;charset=utf-8;base64,${Buffer.from(text).toString('base64')}`),
    word.map((text) => `https://host.lab:8443/${text}?a=b`),
    word.map((text) => `s3://bucket/${text}?versionId=1`),
  ),
  fc.oneof(
    dataUrls,
    webUrls,
    arns,
    one('', 'gs://bucket/key', 'arn:aws:s3:::bucket/key', 'arn:aws:s3:r:1:accesspoint/a/b', '*', 'data:,\u0001', '\t'),
  ),
)

export const proxies: TextPool = pool(one('http://proxy.lab:3128', 'https://proxy.lab'), webUrls)

export const compressions: TextPool = pool(one('', 'gzip'), one('GZIP', 'xz', ' '))

export const formats: TextPool = pool(
  one('ext4', 'btrfs', 'xfs', 'swap', 'vfat'),
  one('', 'none', 'virtiofs', 'virtiofs', 'virtiofs', 'ext3', 'constructor'),
)

export const levels: TextPool = pool(
  one('raid1', '1', 'mirror', 'raid4', '5', 'raid6', '10'),
  one('', 'linear', 'raid0', '0', 'stripe', 'raid2', 'raid10x', 'mirror1'),
)

export const pins: TextPool = pool(one('tpm2', 'tang', 'sss'), one('', 'own'))

/** About as long as systemd takes them, and as the buffer of Ignition's reader. */
const longLines = fc
  .array(
    fc.tuple(
      one('A=', '#', '', '[Unit]\n', '[Unit] ', '\n', ' ', 'A'),
      one('y', 'é', ' '),
      fc.integer({ min: 1900, max: 4200 }),
      one('', '\n', '\\\n', '\r\n', '=b\n'),
    ),
    { maxLength: 4 },
  )
  .map((lines) => `[Unit]\n${lines.map(([start, part, length, end]) => start + part.repeat(length) + end).join('')}`)

export const unitNames: TextPool = pool(
  fc.tuple(word, one('.service', '.socket', '.timer', '.target', '@.service', '@1.service')).map((p) => p.join('')),
  one(
    '',
    'a',
    'a.service',
    'a.conf',
    't@.service',
    't@1.service',
    't@a@b.service',
    '.service',
    'a.service/b',
    'é.mount',
  ),
)

export const dropinNames: TextPool = pool(
  word.map((text) => `${text}.conf`),
  one('', '10.conf', 'a', 'a.service', '.conf', 'a.conf/b', 'a.conf.d'),
)

export const units: TextPool = pool(
  one('[Unit]\nDescription=a\n[Install]\nWantedBy=a.target\n', '[Service]\nExecStart=/bin/a\n\n[Install]\nA=b'),
  fc.oneof(
    pieces(
      ...['[Unit]', '[Install]', '\n', '\n', 'A=b', 'A=b\\\n', '# c\n', ';c\\\n', ' ', '[', ']', '\r\n', '\\'],
      ...['A', '=', '\u00a0', '\ufeff', 'é=ü', '[X\nY]', '\t', '[Service] x\n', '[Install]\nA=b', '\u2028'],
    ),
    longLines,
  ),
)

export const advertisements: TextPool = pool(one('{}', '', '{"a": [1]}'), one('{', 'nul', '1', '[1,]', ' '))
