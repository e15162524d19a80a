import type { InvitedPerson } from '@postern/contract/people/people'
import type { DeviceCodes } from '@postern/contract/sign-in/device'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { label, startSite } from './harness.ts'
import { lookAt, type Scene } from './scenes.ts'

/** The pages of people and of the own account. */
const site = shared(() => startSite())
const company = shared(async () => {
  const { api } = site
  const { id: workshop } = await api.createNode({ name: 'workshop' })
  const { id: office } = await api.createNode({ name: 'office' })
  const { id: domain } = await api.createDomain({ domain: 'shop.example.com' })
  const invite = async (form: object) => (await api.call('POST', '/api/people', form)).json as InvitedPerson
  const ann = await invite({
    username: 'ann',
    role: 'editor',
    reach: { nodes: [workshop], domains: [domain] },
  })
  await api.call('POST', '/api/invites/accept', { token: ann.token, password: 'long enough 1' })
  const reset = (await api.call('POST', `/api/people/${ann.id}/invite`, {})).json as InvitedPerson
  const { token } = await invite({ username: 'Bernhard Großmann-Weidenfeller', role: 'viewer' })
  const off = await invite({
    ...{ username: 'charlotte', role: 'viewer' },
    reach: { nodes: [office, workshop], domains: [domain] },
  })
  await api.call('PATCH', `/api/people/${off.id}/disable`, {})
  return { token, reset: reset.token }
})

const scenes: Scene[] = [
  { name: 'people', path: () => `/people?of=${company.token.length}`, shows: 'charlotte' },
  { name: 'people-menu', path: () => '/people', act: openMenu, shows: 'End All Sessions' },
  { name: 'person-form', path: () => '/people', act: openForm, shows: 'With their services' },
  { name: 'person-link', path: () => '/people', act: openLink, shows: 'The link is only visible now' },
  { name: 'person-delete', path: () => '/people', act: openDelete, shows: 'Yes, delete it!' },
  { name: 'account', path: () => '/account', shows: 'This session' },
  { name: 'account-name', path: () => '/account', act: openName, shows: 'keeps the old name' },
  { name: 'account-password', path: () => '/account', act: openPassword, shows: 'The Same Again' },
  { name: 'device-code', path: () => '/device', shows: 'Somebody else gave you this code?' },
  { name: 'device-asks', path: () => '/device', act: openDevice, shows: 'from another network than yours' },
  { name: 'device-denied', path: () => '/device', act: denyDevice, shows: 'You can close this page' },
  {
    name: 'invite',
    path: () => `/invite#${company.token}`,
    signedIn: false,
    shows: 'You were invited as a viewer',
  },
  { name: 'sign-in-again', path: () => '/login', signedIn: false, shows: 'Forgot your password?' },
  {
    name: 'invite-reset',
    path: () => `/invite#${company.reset}`,
    signedIn: false,
    shows: 'The old one ends, with all your sessions',
  },
  {
    ...{ name: 'invite-dead', path: () => '/invite#pti_unknown', signedIn: false },
    ...{ shows: 'does not work any more', forgive: /404/ },
  },
]

lookAt(() => site, scenes, {
  widths: [
    [1440, 1024],
    [390, 360],
  ],
  axe: [1440, 390],
})

const menuOf = (page: Page, name: string) => page.getByRole('button', { name: `Actions for ${name}` })

async function openMenu(page: Page): Promise<void> {
  await menuOf(page, 'ann').click()
}

async function openForm(page: Page): Promise<void> {
  await menuOf(page, 'charlotte').click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByRole('combobox', { name: 'Node 2' }).waitFor()
}

async function openLink(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByLabel(label('Name')).fill(`dora ${Date.now()}`)
  await page.getByRole('button', { name: 'Save' }).click()
}

async function openDelete(page: Page): Promise<void> {
  await menuOf(page, 'ann').click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
}

async function openName(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Change Name' }).click()
}

async function openDevice(page: Page): Promise<void> {
  const { json } = await site.api.call('POST', '/api/auth/device', { client: 'build-server-07.internal' })
  // The call checks it against the contract.
  await page.getByLabel(label('Code')).fill((json as DeviceCodes).user_code)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Sees').selectOption('Chosen nodes and domains')
}

async function denyDevice(page: Page): Promise<void> {
  await openDevice(page)
  await page.getByRole('button', { name: 'Deny' }).click()
}

async function openPassword(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Change Password' }).click()
}
