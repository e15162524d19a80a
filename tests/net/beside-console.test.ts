import { chmod, readdir } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { dirname } from 'node:path'
import { shared } from '@postern/testkit/shared'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
} from '../../apps/edge/test/haproxy-lab.ts'
import { startUpstream } from '../../apps/edge/test/upstream.ts'
import { label, type Site, startSite } from '../e2e/harness.ts'

/** Browsers lead every name below it to loopback themselves. */
const DOMAIN = 'console.localhost'

let lab: HaproxyLab
let browser: Browser

const site = shared(startSite)
const service = shared(() => startUpstream({ answer: answerAsStranger }))
beforeAll(async () => {
  const { serverSocket, lanesDir } = site.paths
  lab = await makeHaproxyLab({ serverSocket, lanes: lanesDir, root: dirname(lanesDir) })
  await letHaproxyIn(site)
  await lab.apply([
    makeConsoleRoute({ domain: DOMAIN }),
    makeLabRoute(2, service.port, { domain: DOMAIN, path: '/tool' }),
    makeLabRoute(3, service.port, { domain: null, path: '/tool' }),
  ])
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
})
afterAll(async () => {
  await browser?.close()
  await lab?.close()
})

/** Tries everything it can from a path of the console's own address, and records what worked. */
const STRANGER = `<!doctype html><title>tool</title><script>
  const attempts = {
    origin: () => self.origin,
    storage: () => localStorage.setItem('a', '1'),
    cookie: () => { document.cookie = 'token=1'; return document.cookie },
    ask: async () => (await fetch('/api/health')).status,
    worker: async () => (await navigator.serviceWorker.register('/tool/evil.js', { scope: '/' })).scope,
  }
  addEventListener('load', async () => {
    const result = {}
    for (const [name, attempt] of Object.entries(attempts)) {
      try { result[name] = await attempt() } catch { result[name] = 'refused' }
    }
    document.body.innerText = JSON.stringify(result)
  })
</script><body></body>`

const answerAsStranger: RequestListener = (request, response) => {
  const cookies = ['a=1; Path=/', 'token=1; Path=/; Secure', 'b=1; Path=/tool']
  response.writeEarlyHints({ link: '</tool/x.css>; rel=preload; as=style', 'set-cookie': cookies })
  response.setHeader('set-cookie', cookies)
  const isScript = request.url?.endsWith('.js')
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
  response.end(isScript ? 'self.isTaken = true' : STRANGER)
}

/** The test's directories belong to its own user. */
async function letHaproxyIn({ paths }: Site): Promise<void> {
  await chmod(dirname(paths.runDir), 0o711)
  await chmod(paths.runDir, 0o711)
  await chmod(paths.serverSocket, 0o666)
}

async function openPage(): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  return page
}

const isTaken = (page: Page) => page.evaluate('self.isTaken === true')

describe.each(['127.0.0.1', '[::1]', DOMAIN])('at %s', (host) => {
  const at = (path: string) => `https://${host}:${lab.httpsPort}${path}`

  it("the console runs, and no service's script runs in its pages", async () => {
    const page = await openPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(at('/login'))
    await page.getByLabel(label('Username')).waitFor()
    expect(complaints.filter((text) => /content security/i.test(text))).toEqual([])
    for (const path of ['/login', '/docs']) {
      await page.goto(at(path))
      await expect(page.addScriptTag({ url: '/tool/evil.js' }), path).rejects.toThrow()
      await expect(page.addScriptTag({ url: '/assets/../tool/evil.js' }), path).rejects.toThrow()
      expect(await isTaken(page), path).toBe(false)
    }
    expect(complaints.filter((text) => text.includes('script-src *:*/assets/'))).not.toEqual([])
    await page.context().close()
  })

  it("a service has no access to the console's origin, and leaves no cookie there", async () => {
    const page = await openPage()
    await page.goto(at('/tool'))
    await page.getByText('origin').waitFor()
    const found = JSON.parse(await page.innerText('body'))
    expect(found).toMatchObject({
      origin: 'null',
      storage: 'refused',
      cookie: 'refused',
      ask: 'refused',
      worker: 'refused',
    })
    await page.goto(at('/login'))
    expect(await page.context().cookies()).toEqual([])
    await page.context().close()
  })
})

test("a service's own script does run in its page", async () => {
  const page = await openPage()
  await page.goto(`https://127.0.0.1:${lab.httpsPort}/tool`)
  await page.addScriptTag({ url: '/tool/evil.js' })
  expect(await isTaken(page)).toBe(true)
  await page.context().close()
})

test('the build has nothing at the root that a service could replace', async () => {
  const built = await readdir(new URL('../../apps/console/dist', import.meta.url))
  expect(built.sort()).toEqual(['assets', 'index.html'])
})
