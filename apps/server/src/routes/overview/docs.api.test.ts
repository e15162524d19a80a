import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeDocs } from '../../../docs/write.ts'

const rootDir = tempDir()
const FILES = {
  'TERMS.md': '# Terms of service\n\nBe kind.\n',
  'README.md': '# Not a page\n',
  'docs/quick-start.md': [
    '# Quick start',
    '<script>alert(1)</script> and <b onclick="x()">bold</b>',
    '[next](cli.md#the-flags) [terms](../TERMS.md) [decision](decisions/0001-x.md) [nowhere](../README.md)',
    '[bad](javascript:alert(1)) [worse](<java\nscript:x>) [data](data:text/html,x) [out](https://example.org/"onx)',
    '![a picture](images/a.png) ![gone](images/none.png) ![foreign](https://example.org/x.png)',
    '## The `flags` & more',
    '```sh\nnpm start --url=<x>\n```',
  ].join('\n\n'),
  'docs/cli.md': '# The command\n\n## The flags\n',
  'docs/decisions/0001-x.md': '# 1. A decision\n\n[back](../quick-start.md)\n',
  'SECURITY.md': '# Security\n\n- **It holds.** `a.test.ts › it does`, `b.net.test.ts › this too`\n',
  'docs/images/a.png': 'png',
  'docs/images/secret.txt': 'no',
}
beforeAll(async () => {
  mkdirSync(join(rootDir, 'docs/images'), { recursive: true })
  mkdirSync(join(rootDir, 'docs/decisions'))
  for (const [file, text] of Object.entries(FILES)) writeFileSync(join(rootDir, file), text)
  await writeDocs(rootDir)
})
const server = shared(() => startTestServer({ rootDir }))

const get = (url: string, headers: Record<string, string> = {}) =>
  server.call({ method: 'GET', url, headers: { accept: 'text/html', ...headers } })

/** The address of a shared part, from this page. */
const partOf = (body: string, part: string) => new RegExp(`"(/docs/${part}-[^"]*)"`).exec(body)?.[1] ?? ''

describe('a page', () => {
  it('is served to everyone, with only our own scripts', async () => {
    const answer = await get('/docs/quick-start')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.headers['content-security-policy']).toContain("default-src 'self'")
    expect(answer.headers['content-security-policy']).toMatch(/, script-src \*:\*\/docs\/$/)
    expect(answer.body).toContain('<title>Quick start · Postern</title>')
    expect(answer.body.match(/<script[^>]*>/g)).toEqual([`<script src="${partOf(answer.body, 'script')}">`])
    expect((await get(partOf(answer.body, 'style'))).body).toContain('light-dark(')
  })

  it('is sent compressed, cached by browsers, and revalidated', async () => {
    const page = await get('/docs/quick-start')
    expect(page.headers['cache-control']).toBe('no-cache')
    for (const [encoding, unpack] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const packed = await get('/docs/quick-start', { 'accept-encoding': encoding })
      expect(packed.headers['content-encoding']).toBe(encoding)
      expect(packed.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(String(packed.headers.vary).toLowerCase()).toContain('accept-encoding')
      expect(unpack(packed.rawPayload).toString()).toBe(page.body)
      const etag = String(packed.headers.etag)
      const again = await get('/docs/quick-start', { 'accept-encoding': encoding, 'if-none-match': etag })
      expect(again.statusCode).toBe(304)
    }
    for (const part of ['style', 'script', 'index', 'icon'])
      expect((await get(partOf(page.body, part))).headers['cache-control'], part).toContain('immutable')
  })

  it('shows HTML as text', async () => {
    const { body } = await get('/docs/quick-start')
    expect(body).not.toMatch(/<script>|<b |onclick="/)
    expect(body).toContain('&#60;script&#62;alert(1)&#60;/script&#62;')
    expect(body).toContain('npm start --url=&lt;x&gt;')
    expect(body).toContain('<pre tabindex="0">')
  })

  it('links to the other pages, and to nothing that could act', async () => {
    const { body } = await get('/docs/quick-start')
    for (const href of ['/docs/cli#the-flags', '/docs/terms', '/docs/decisions/0001-x'])
      expect(body).toContain(`href="${href}"`)
    expect((await get('/docs/decisions/0001-x')).body).toContain('href="/docs/quick-start"')
    expect(body).not.toMatch(/href="[^"]*(javascript|script:|data:|README)/i)
    expect(body).not.toContain('"onx')
    expect(body).toContain('id="the-flags-more"')
    for (const target of body.matchAll(/href="(\/docs[^"#]*)/g))
      expect((await get(target[1] ?? '')).statusCode, target[1]).toBe(200)
  })

  it('shows only images of the repository', async () => {
    const { body } = await get('/docs/quick-start')
    expect(body.match(/<img [^>]*>/g)).toHaveLength(1)
    expect(body).toContain('src="/docs/images/a.png" alt="a picture"')
    expect((await get('/docs/images/a.png')).headers['content-type']).toBe('image/png')
  })
})

describe('what there is', () => {
  it('is listed, and everything else is 404', async () => {
    const index = await get('/docs')
    expect(index.body).toContain('href="/docs/cli"')
    expect((await get('/docs/terms')).body).toContain('Be kind.')
    expect((await get('/docs/decisions')).body).toContain('href="/docs/decisions/0001-x"')
    expect((await get('/docs/security')).body).toContain('<strong>It holds.</strong></li>')
    for (const url of [
      '/docs/nothing',
      '/docs/images/secret.txt',
      '/docs/..%2f..%2fpackage.json',
      '/docs/images/none.png',
      '/docs/__proto__',
    ])
      expect((await get(url)).statusCode, url).toBe(404)
  })

  it('is offered by the not-found page', async () => {
    for (const url of ['/docs/nothing', '/docs/404']) {
      const { statusCode, body, headers } = await get(url, { 'accept-encoding': 'identity' })
      expect(statusCode).toBe(404)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(body).toContain('Page not found')
      expect(body).toContain('href="/docs/cli"')
    }
  })
})
