import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseGoUrl, queryValue } from './go-url.ts'

test('what Go takes for a URL is one', () => {
  const urls: Readonly<Record<string, string>> = {
    'HTTPS://host:8443/path?a=b#c': 'https',
    'http://user:p%40ss@host/': 'http',
    'http://[fe80::1%25eth0]:80/': 'http',
    'http://[::ffff:192.0.2.1]/': 'http',
    'http://host:/': 'http',
    'postgres://a:1,b:2/x': 'postgres',
    'data:,x y': 'data',
    'h+t-p.1:x': 'h+t-p.1',
    'a/b:c': '',
    '*': '',
    '': '',
  }
  for (const [text, scheme] of Object.entries(urls)) assert.equal(parseGoUrl(text)?.scheme, scheme, text)
})

test('what Go refuses is no URL', () => {
  const texts = [
    ...['http://host\n', ':x', '1:x', 'http://a b/', 'http://host:8x/', 'http://a:1:2/'],
    ...[
      'http://[1.2.3.4]/',
      'http://[::1',
      'http://x[::1]/',
      'http://[1::2::3]/',
      'http://[12345::]/',
      'http://[::1%25]/',
    ],
    ...['http://host/%zz', 'http://ho%41st/', 'http://us er@host/', 'http://host/#%4', 'http://[::1]x/', '//a%zz'],
  ]
  for (const text of texts) assert.equal(parseGoUrl(text), undefined, text)
})

test('the first value of a query counts, and what is broken in it is passed over', () => {
  const valueIn = (query: string) => queryValue({ scheme: 's3', opaque: '', query }, 'versionId')
  assert.equal(valueIn('versionId=1&versionId=2'), '1')
  assert.equal(valueIn('a=b&%76ersionId=x%20y'), 'x y')
  assert.equal(valueIn('versionId'), '')
  assert.equal(valueIn('versionId=%zz&versionId=3'), '3')
  assert.equal(valueIn('versionId=1;a=b'), undefined)
})
