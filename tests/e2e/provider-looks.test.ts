import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { startProviderLab } from './provider-lab.ts'
import { lookAt, type Scene } from './scenes.ts'
import { choose } from './steps.ts'

/** Signing in to the console by a provider, and what administrators set up for it. */
const lab = shared(() => startProviderLab())
const set = shared(async () => {
  const rules = [
    { claim: 'groups', value: 'a-group-of-people-with-a-rather-long-name', role: 'admin' as const },
    { claim: 'groups', value: 'staff', role: 'editor' as const },
    { claim: 'email', value: 'guest@example.com', role: 'viewer' as const },
  ]
  const company = await lab.addProvider({ name: 'Company', makesAccounts: true, rules })
  await lab.addProvider({ name: 'Partners with a name that needs a lot of room' })
  const { token } = await lab.invite('charlotte')
  return { id: company.id, token }
})

const card = (page: Page) => page.getByRole('region', { name: 'Sign-In of the Console' })
const dialog = (page: Page) => page.getByRole('dialog')

const scenes: Scene[] = [
  {
    ...{ name: 'login-providers', path: () => `/login?of=${set.id}`, signedIn: false },
    shows: 'Continue with Company',
  },
  {
    ...{ name: 'invite-providers', path: () => `/invite#${set.token}`, signedIn: false },
    shows: 'Continue with Company',
  },
  {
    ...{ name: 'settings-sign-in', path: () => '/settings', shows: 'Invited people only' },
    act: (page) => card(page).scrollIntoViewIfNeeded(),
  },
  { name: 'provider-form', path: () => '/settings', act: openForm, shows: 'The first rule that fits' },
  { name: 'provider-tried', path: () => '/settings', act: tryOut, shows: 'Rule 2 gives Editor.' },
  { name: 'provider-delete', path: () => '/settings', act: openDelete, shows: 'Yes, delete it!' },
  { name: 'password-rule', path: () => '/settings', act: openRule, shows: 'npm run password' },
  { name: 'account-providers', path: () => '/account', shows: 'None connected yet' },
  { name: 'account-connect', path: () => '/account', act: openConnect, shows: 'sends you back here' },
]

const plan = { widths: [[1440, 1024] as const, [390, 360] as const], axe: [1440, 390] as const }

lookAt(() => lab, scenes, plan)

/** Where no provider sends people back. */
lookAt(
  () => ({
    ...lab,
    origin: lab.localOrigin,
    open: (path, options) => lab.open(path, { ...options, origin: lab.localOrigin }),
  }),
  [
    {
      ...{ name: 'login-elsewhere', path: () => '/login', signedIn: false },
      shows: 'These sign-ins work at',
    },
  ],
  plan,
)

async function openForm(page: Page): Promise<void> {
  await choose(page, 'Actions for provider Company', 'Edit')
  await dialog(page).getByLabel('Role of rule 3').waitFor()
}

async function tryOut(page: Page): Promise<void> {
  await openForm(page)
  const [tab] = await Promise.all([
    page.waitForEvent('popup'),
    dialog(page).getByRole('button', { name: 'Try', exact: true }).click(),
  ])
  await lab.passProvider(tab, 'bob')
  await tab.close()
}

async function openDelete(page: Page): Promise<void> {
  await choose(page, 'Actions for provider Company', 'Delete')
}

async function openRule(page: Page): Promise<void> {
  await card(page).getByRole('button', { name: 'Edit Password Sign-In' }).click()
  await dialog(page).getByLabel('May Sign In by Password').selectOption({ label: 'Only admin' })
}

async function openConnect(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect Company', exact: true }).click()
}
