import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { showStep } from './certificates.ts'
import { furnish, sendFigures } from './company.ts'
import { label, startSite } from './harness.ts'
import { lookAt, type Scene } from './scenes.ts'
import { choose } from './steps.ts'

/** Every page and every dialog of a small company. */
const site = shared(() => startSite())
const edge = shared(() => connectFakeEdge(site.paths))
const company = shared(() => furnish(site, edge))
const logs = () => `/nodes/${company.office}/http/${company.grafana}/logs`
const traffic = () => `/nodes/${company.office}/http/${company.grafana}/traffic`
const office = () => `/nodes/${company.office}`
const dockerHost = () => `/nodes/${company.dockerHost}`

const scenes: Scene[] = [
  { name: 'login', path: () => '/login', signedIn: false, shows: 'Sign in' },
  { name: 'home', path: () => '/', shows: 'Create Node' },
  { name: 'nodes', path: () => '/nodes', shows: 'office' },
  { name: 'attention', path: () => '/nodes/attention', shows: 'cannot be resolved' },
  { name: 'services', path: () => '/services', shows: 'grafana' },
  { name: 'services-ticked', path: () => '/services', act: tickServices, shows: 'services selected' },
  { name: 'services-move', path: () => '/services', act: openMove, shows: 'To a domain' },
  { name: 'palette', path: () => '/nodes', act: openPalette, shows: 'Expose HTTP on office' },
  { name: 'palette-empty', path: () => '/nodes', act: openEmptyPalette, shows: 'disable grafana' },
  { name: 'palette-verb', path: () => '/nodes', act: typeVerb, shows: 'Disable all 7 services of office' },
  { name: 'shortcuts', path: () => '/nodes', act: openShortcuts, shows: 'Go from row to row' },
  { name: 'node', path: office, shows: 'grafana' },
  { name: 'domains', path: () => '/domains', act: showPending, shows: 'the authority is checking' },
  { name: 'domain-services', path: () => '/domains', act: openServices, shows: 'Proxy -> 192.168.7.31:3000' },
  { name: 'domain-form', path: () => '/domains', act: openDomainForm, shows: 'Issued and renewed' },
  { name: 'domain-skip', path: () => '/domains', act: openSkippingForm, shows: 'Self-Signed when skipping' },
  { name: 'settings', path: () => '/settings', shows: 'Set When Postern Starts' },
  { name: 'settings-form', path: () => '/settings', act: openSettingsForm, shows: 'Redirect Address' },
  { name: 'logs', path: logs, shows: 'GET /api/live' },
  { name: 'traffic', path: traffic, act: openChart, shows: 'Half within' },
  { name: 'traffic-table', path: traffic, act: openTable, shows: 'Received' },
  { name: 'traffic-all', path: () => '/', act: showTraffic, shows: 'Sent' },
  {
    name: 'traffic-domain',
    path: () => '/domains',
    act: openDomainTraffic,
    shows: 'Requests and connections',
  },
  { name: 'history', path: () => '/history', shows: 'created' },
  { name: 'history-filter', path: () => '/history', act: openHistoryFilter, shows: 'The whole name' },
  { name: 'history-change', path: () => '/history?kind=service', act: openChange, shows: 'Revision' },
  { name: 'docs', path: () => '/docs', signedIn: false, shows: 'Quick start' },
  { name: 'docs-page', path: () => '/docs/settings', signedIn: false, shows: 'The first account' },
  { name: 'docs-recipe', path: () => '/docs/recipes/nextcloud', signedIn: false, shows: 'Large uploads' },
  { name: 'docs-picture', path: () => '/docs/how-it-works', signedIn: false, shows: 'The way of a visitor' },
  { name: 'docs-api', path: () => '/docs/api', signedIn: false, shows: 'Tokens and signing in' },
  {
    name: 'docs-search',
    path: () => '/docs/cli',
    signedIn: false,
    act: openDocsSearch,
    shows: 'Domains and certificates',
  },
  { name: 'not-found', path: () => '/no/such/page', shows: 'Try searching for something else!' },
  { name: 'node-form', path: () => '/nodes', act: openNodeForm, shows: 'Act as a network gateway' },
  { name: 'node-ready', path: () => '/nodes', act: createNode, shows: 'Your Node is Ready' },
  { name: 'http-form', path: office, act: openServiceForm, shows: 'Blocked IPs' },
  { name: 'tcp-form', path: office, act: openPortForm, shows: 'Enable SSL Termination' },
  { name: 'tcp-info', path: office, act: openPortInfo, shows: 'tcp://192.168.7.20:1883' },
  { name: 'service-info', path: office, act: openInfo, shows: 'Your Service is Now Publicly Available' },
  { name: 'published-services', path: dockerHost, shows: 'Docker' },
  { name: 'published-form', path: dockerHost, act: openPublished, shows: 'HTTP Service: ci' },
  { name: 'token-form', path: office, act: openTokenForm, shows: 'Define when the token' },
  { name: 'token-ready', path: office, act: createToken, shows: 'New Access Token Generated' },
  { name: 'token-revoke', path: office, act: openRevoke, shows: 'Yes, revoke token!' },
  { name: 'confirm', path: office, act: openConfirm, shows: 'Yes' },
]

/** Every page and every dialog of a small company. */

lookAt(() => site, scenes, {
  widths: [
    [1440, 1024],
    [390, 360],
  ],
  axe: [1440, 390],
})

async function showPending(page: Page): Promise<void> {
  await showStep(page, 'grafana.example.com', 'validating')
  await page.reload()
}

async function openDocsSearch(page: Page): Promise<void> {
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Search the documentation' }).fill('certificate')
}

async function tickServices(page: Page): Promise<void> {
  await page.getByRole('checkbox', { name: 'Select grafana' }).click()
  await page.getByRole('checkbox', { name: 'Select mqtt' }).click()
  // There the bar covers no row.
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
}

async function openMove(page: Page): Promise<void> {
  await tickServices(page)
  await page.getByRole('button', { name: 'Move', exact: true }).click()
}

async function openPalette(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Search and commands' }).click()
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('off')
}

async function openEmptyPalette(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Search and commands' }).click()
}

async function typeVerb(page: Page): Promise<void> {
  await openEmptyPalette(page)
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('disable o')
}

async function openShortcuts(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'office' }).waitFor()
  await page.keyboard.press('?')
}

async function openSettingsForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit Sign-In Provider' }).click()
}

async function openDomainForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Domain' }).click()
  await page.getByLabel(label('Domain')).fill('shop.example.com')
  await page.getByLabel('SSL Certificate Type').selectOption('certbot')
}

async function openSkippingForm(page: Page): Promise<void> {
  await choose(page, 'Actions for legacy.example.com', 'Edit Domain')
}

async function openNodeForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Client' }).first().click()
  await page.getByLabel('Act as a network gateway').check()
}

async function createNode(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Client' }).first().click()
  await page.getByLabel(label('Name')).fill('attic')
  await page.keyboard.press('Enter')
}

async function openServiceForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Service' }).first().click()
  await page.getByLabel(label('Service Name')).fill('printer')
  await page.getByLabel(label('Public Domain')).fill('printer.example.com')
  await page.getByLabel(label('Hostname/IP')).fill('192.168.7.40')
  await page.locator('.options').waitFor({ state: 'detached' })
}

async function openPublished(page: Page): Promise<void> {
  await choose(page, 'Actions for ci', 'Show Settings')
}

async function openPortForm(page: Page): Promise<void> {
  await page
    .getByRole('region', { name: 'TCP Services' })
    .getByRole('button', { name: 'Add Service' })
    .click()
  await page.getByLabel(label('Service Name')).fill('mail')
  await page.getByLabel('Enable SSL Termination').check()
}

async function openPortInfo(page: Page): Promise<void> {
  await choose(page, 'Actions for mqtt', 'Info')
}

async function openInfo(page: Page): Promise<void> {
  await sendFigures(site, edge, company)
  await choose(page, 'Actions for grafana', 'Info')
}

async function openConfirm(page: Page): Promise<void> {
  await choose(page, 'Actions for grafana', 'Delete Service')
}

async function openServices(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Services of grafana.example.com' }).click()
}

async function openTokenForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Token' }).click()
  await page.getByLabel(label('Name')).fill('van')
}

async function createToken(page: Page): Promise<void> {
  await openTokenForm(page)
  await page.getByLabel('Expire At (Optional)').fill('03/31/2031')
  await page.keyboard.press('Enter')
}

async function openRevoke(page: Page): Promise<void> {
  await choose(page, 'Actions for token ci-runner', 'Revoke')
}

/** A chart is loaded when it comes into view, and on a phone it may begin below the screen. */
async function scrollToChart(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Traffic' }).scrollIntoViewIfNeeded()
}

async function openChart(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Response Time' }).click()
  await page.getByRole('button', { name: 'Day', exact: true }).click()
  const plot = page.getByRole('slider')
  await plot.focus()
  await plot.press('End')
  for (let point = 0; point < 34; point++) await plot.press('ArrowLeft')
}

async function openTable(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Bytes' }).click()
  await page.getByRole('button', { name: 'Table' }).click()
}

async function showTraffic(page: Page): Promise<void> {
  await scrollToChart(page)
  await page.getByRole('button', { name: 'Table' }).click()
  await page.getByRole('button', { name: 'Bytes' }).click()
}

async function openDomainTraffic(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Services of grafana.example.com' }).click()
  await scrollToChart(page)
  await page.getByRole('button', { name: 'Requests', exact: true }).click()
}

async function openHistoryFilter(page: Page) {
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
}

async function openChange(page: Page) {
  await page.locator('.table.changes .what').first().click()
}
