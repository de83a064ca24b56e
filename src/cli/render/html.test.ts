import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { breakable, html } from './html.ts'

test('what is put into a template is text, also within attributes', () => {
  const evil = `<script>alert("1")</script>'&`
  assert.equal(
    html`<a title="${evil}">${evil}</a>`.text,
    '<a title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;">&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;</a>',
  )
})

test('pieces stay what they are, lists come one after the other, and what is absent is nothing', () => {
  assert.equal(
    html`<ul>${['<', 'b'].map((one) => html`<li>${one}</li>`)}</ul>${undefined}${7}`.text,
    '<ul><li>&lt;</li><li>b</li></ul>7',
  )
  assert.equal(breakable('a/b<').text, 'a/<wbr>b&lt;')
})

test('no text makes an element or leaves its attribute', () => {
  fc.assert(fc.property(fc.string(), (text) => !/[<>"']/.test(html`${text}`.text)))
})
