import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { startEcho, startListening } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { type Browser, chromium } from 'playwright'
import { beforeAll, expect, it } from 'vitest'
import { expect as expectOfPage } from '../e2e/expect.ts'
import { label } from '../e2e/harness.ts'
import { choose } from '../e2e/steps.ts'

const RECEIVER = fileURLToPath(new URL('../../packages/testkit/src/programs/receiver.ts', import.meta.url))
const LAN = { server: '192.168.9.1', phone: '192.168.9.2' }
const PORT = 8088
const SILENT = 'wiki on Local does not answer'
const FAST = 'https://fast.example.com/'
const WIKI = 'https://wiki.example.com/'
/** What is wrong must be so for a minute, and edges have one to tell of everything. */
const PATIENCE = { timeout: 300_000, timeoutMs: 280_000 }

const lab = shared(startLab)
const installation = shared(() => startInstallation(lab))
const browser = shared(startBrowser)

/** On the host of the phone. */
async function startBrowser(): Promise<Browser> {
  const program = `${installation.dataDir}/chromium`
  writeFileSync(program, `#!/bin/sh\nexec ${lab.visitor.argv('/usr/bin/chromium').join(' ')} "$@"\n`)
  chmodSync(program, 0o755)
  return await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] })
}

const channel = {
  kind: 'ntfy',
  name: 'Phone',
  url: `http://${LAN.phone}:${PORT}/alerts`,
  inPrivateNetwork: true,
}

beforeAll(async () => {
  await lab.server.must('ip', 'addr', 'add', `${LAN.server}/24`, 'dev', 'br0')
  await lab.visitor.must('ip', 'addr', 'add', `${LAN.phone}/24`, 'dev', 'eth0')
})

it('no message goes to the server itself, or into its tunnel', async () => {
  for (const host of ['127.0.0.1', '10.64.0.1', lab.server.address, LAN.server]) {
    const inside = { ...channel, url: `http://${host}:${PORT}/alerts` }
    const answer = await installation.api.call('POST', '/api/alerts/channel-tests', { channel: inside })
    expect(answer.json, host).toMatchObject({ problem: expect.stringMatching(/loopback|tunnel|this server/) })
  }
})

const file = () => `${installation.dataDir}/received`
const received = () => (existsSync(file()) ? readFileSync(file(), 'utf8').trim().split('\n') : [])
const messages = () => received().map((line) => JSON.parse(JSON.parse(line).body))
const titles = () => messages().map(({ title }) => title)
const messageOf = (title: string) => messages().find((message) => message.title === title)

/** Rules that have found something once the minute is counted; the next tests take longer. */
async function watchFigures() {
  const { api, dataDir } = installation
  await startEcho(lab.server, `${dataDir}/upstreams`, 8082)
  const fast = await api.publish(1, {
    ...{ name: 'fast', domain: 'fast.example.com', backendHost: '127.0.0.1', backendPort: 8082 },
  })
  await until('the answer', async () => (await visit(lab.visitor, FAST)).status === 200)
  const rules = [
    {
      name: 'wiki fails',
      figure: 'error-share',
      threshold: 50,
      domainId: await domainOf('wiki.example.com'),
    },
    { name: 'wiki is not alone', figure: 'p95', comparison: 'below', threshold: 5000, serviceId: fast.id },
  ]
  for (const rule of rules) expect((await api.call('POST', '/api/alerts/rules', rule)).status).toBe(201)
  for (let i = 0; i < 25; i++) for (const url of [WIKI, FAST]) await visit(lab.visitor, url)
}

async function domainOf(name: string) {
  const domains = (await installation.api.call('GET', '/api/domains')).json as {
    id: number
    domain: string
  }[]
  return domains.find(({ domain }) => domain === name)?.id
}

it('a service that stops answering is told to a phone in the network, once', PATIENCE, async () => {
  const { api, dataDir } = installation
  await startListening(
    lab.visitor,
    [process.execPath, RECEIVER, String(PORT), file()],
    dataDir,
    'phone',
    PORT,
  )
  const tried = await api.call('POST', '/api/alerts/channel-tests', { channel })
  expect(tried.json).toEqual({ problem: null })
  expect((await api.call('POST', '/api/alerts/channels', channel)).status).toBe(201)
  const rules = (await api.call('GET', '/api/alerts/rules')).json as { id: number; kind: string }[]
  const rule = rules.find(({ kind }) => kind === 'service-unanswered')
  await api.call('PATCH', `/api/alerts/built-in-rules/${rule?.id}`, { minutes: 1 })

  await api.publish(1, {
    name: 'wiki',
    domain: 'wiki.example.com',
    backendHost: '127.0.0.1',
    backendPort: 8081,
  })
  await until('the failure', async () => (await visit(lab.visitor, `${WIKI}night`)).status >= 500)
  await watchFigures()
  await until('the alert', () => titles().includes(SILENT), PATIENCE)
  expect(titles().filter((title) => title === SILENT)).toHaveLength(1)
  expect(messageOf(SILENT)).toMatchObject({
    topic: 'alerts',
    priority: 4,
    click: `https://${lab.server.address}/why?url=https%3A%2F%2Fwiki.example.com%2F`,
    message: expect.stringContaining(`Address: ${WIKI}`),
  })
})

it(
  'leads to the step that fails, the first failed request, and its moment in the chart',
  PATIENCE,
  async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    const page = await context.newPage()
    page.setDefaultTimeout(45_000)
    await page.goto(messageOf(SILENT).click)
    await page.getByLabel(label('Username')).fill('admin')
    await page.getByLabel(label('Password')).fill(installation.env.POSTERN_ADMIN_PASSWORD ?? '')
    await page.keyboard.press('Enter')
    await expectOfPage(page.getByRole('status').getByText('Stops at:')).toHaveText(
      'Stops at: Backend reached',
    )
    await expectOfPage(page.locator('.step[data-state=stop]')).toContainText('127.0.0.1:8081')

    await page.getByRole('link', { name: 'wiki', exact: true }).click()
    await choose(page, 'Actions for wiki', 'Requests')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('dialog').getByLabel(label('Status')).fill('5xx')
    await page.getByRole('button', { name: 'Show Requests' }).click()
    await page.locator('.requests tbody tr', { hasText: '/night' }).last().click()
    await expectOfPage(page.getByRole('dialog')).toContainText('GET /night')

    await page.getByRole('link', { name: 'Traffic at this moment' }).click()
    // The moment is in the figures once its minute is over.
    await expectOfPage(page.getByRole('slider')).toHaveAttribute('aria-valuetext', /Requests [1-9]/, {
      timeout: 150_000,
    })
    await page.getByRole('button', { name: 'Errors', exact: true }).click()
    await expectOfPage(page.getByRole('slider')).toHaveAttribute('aria-valuetext', /Errors \S* ?[1-9]/)
    await context.close()
  },
)

it('and so are the errors and the response times that rules of one’s own watch', PATIENCE, async () => {
  await until(
    'both',
    () => titles().includes('wiki fails') && titles().includes('wiki is not alone'),
    PATIENCE,
  )
  expect(messageOf('wiki fails').message).toMatch(
    /^Error Share of wiki\.example\.com: 100 % of \d\d requests in 5 minutes, above the limit of 50 %\.\n/,
  )
  expect(messageOf('wiki is not alone').message).toMatch(
    /^Response Time \(95 % within\) of fast: [\d.,]+ ms of 2\d answers in 5 minutes, below the limit of 5,000 ms\.\n/,
  )
})

it('and then that it answers again', PATIENCE, async () => {
  await startEcho(lab.server, `${installation.dataDir}/upstreams`, 8081)
  await until('its end', () => titles().includes('wiki on Local answers again'), PATIENCE)
  // The person's browser is at an address that nobody signed in from before.
  expect(titles().filter((title) => !title.startsWith('wiki'))).toEqual([
    'Postern can reach you here',
    'admin signed in from a new network',
  ])
})
