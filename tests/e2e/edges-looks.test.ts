import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { describe } from 'vitest'
import { addFar, startSiteForEdges } from './far-edge.ts'
import { label, startSite } from './harness.ts'
import { lookAt, type Scene } from './scenes.ts'
import { choose } from './steps.ts'

/** The page of edges, with one and with several in every state. */
const alone = shared(async () => {
  const site = await startSite()
  await connectFakeEdge(site.paths)
  return site
})
const site = shared(() => startSiteForEdges())
const edges = shared(async () => {
  const local = await connectFakeEdge(site.paths)
  const { api } = site
  const { id: node } = await api.createNode({ name: 'attic' })
  const { id: wiki } = await api.publish(node, { name: 'wiki', pathLocation: '/wiki' })
  const far = await addFar(site, {
    name: 'frankfurt',
    place: 'Frankfurt am Main, rack 12',
    host: 'fra.example.com',
  })
  const vienna = await addFar(site, {
    name: 'vienna',
    host: '2001:db8:85a3::8a2e:370:7334',
    servesConsole: true,
  })
  await api.call('PATCH', `/api/edges/${vienna.id}/drain`, {})
  const away = await addFar(site, { name: 'singapore', place: 'Singapore' })
  away.close()
  await api.call('POST', '/api/edges', { name: 'tallinn' })
  const message = 'Port 443 is taken by another program (nginx, process 812). Stop it there.'
  far.report(1_000_000, [
    { scope: { kind: 'edge' }, message },
    { scope: { kind: 'service', id: wiki }, message: 'cannot listen' },
  ])
  local.sendCounts([[wiki, 4, 120_000, 3_400_000]])
  return { node }
})

const page = () => `/edges?of=${edges.node}`

const ofOne: Scene[] = [
  { name: 'edges-alone', path: () => '/edges', shows: 'One machine answers all visitors' },
  { name: 'edge-port', path: () => '/edges', act: openAdd, shows: 'Check Again' },
]
const ofSeveral: Scene[] = [
  { name: 'edges', path: page, shows: 'tallinn' },
  { name: 'edges-menu', path: page, act: openMenu, shows: 'New Join Token' },
  { name: 'edge-form', path: page, act: openAdd, shows: 'Serves the Console' },
  {
    name: 'edge-edit',
    path: page,
    act: (page) => choose(page, 'Actions for Local', 'Edit'),
    shows: 'always does',
  },
  { name: 'edge-join', path: page, act: addEdge, shows: 'It checks what it downloads' },
  { name: 'edge-rejoin', path: page, act: renew, shows: 'The first lines of' },
  { name: 'edge-drain', path: page, act: drain, shows: 'Yes, drain!' },
  { name: 'edge-remove', path: page, act: remove, shows: 'Yes, remove it!' },
  { name: 'domain-edges', path: () => '/domains', act: openDomain, shows: 'An edge that does not serve it' },
  { name: 'edges-local-form', path: () => '/nodes', act: openLocalForm, shows: 'get an error' },
]
const PLAN = {
  widths: [
    [1440, 1024],
    [390, 360],
  ],
  axe: [1440, 390],
} as const

describe('one edge', () => lookAt(() => alone, ofOne, PLAN))
describe('several edges', () => lookAt(() => site, ofSeveral, PLAN))

async function openAdd(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Edge' }).click()
}

async function openMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for frankfurt' }).click()
}

async function addEdge(page: Page): Promise<void> {
  await openAdd(page)
  await page.getByLabel(label('Name')).fill(`oslo ${Date.now()}`)
  await page.keyboard.press('Enter')
}

async function renew(page: Page): Promise<void> {
  await choose(page, 'Actions for frankfurt', 'New Join Token')
  await page.getByRole('button', { name: 'Docker Compose' }).click()
}

async function drain(page: Page): Promise<void> {
  await choose(page, 'Actions for frankfurt', 'Drain')
}

async function remove(page: Page): Promise<void> {
  await choose(page, 'Actions for frankfurt', 'Remove')
}

async function openLocalForm(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Local' }).click()
  await page.getByRole('button', { name: 'Add Service' }).first().click()
}

async function openDomain(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Domain' }).first().click()
  await page.getByLabel('Served By').selectOption('some')
}
