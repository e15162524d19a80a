import type { InvitedPerson } from '@postern/contract/people/people'
import type { Login } from '@postern/contract/sign-in/auth'
import { oneTimeCode } from '@postern/testkit/one-time-code'
import { fresh } from '@postern/testkit/shared'
import type { CDPSession, Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite, type Visit } from '../harness.ts'
import { choose, expectClipboard, rowOf } from '../steps.ts'

/** Pages are closed before it ends, as those that lose their server complain. */
const site = fresh(() => startSite())

/** Passkeys need a name, and no certificate at this one. */
const originOf = () => site.origin.replace('127.0.0.1', 'localhost')

/** A visitor at the console's name, with a security key of their own. */
async function openNamed(options: { width?: number } = {}): Promise<Visit & { device: Device }> {
  const visit = await site.open('/no/such/page', { signedIn: false, ...options })
  const device = await plugIn(visit.page)
  await visit.page.goto(`${originOf()}/login`)
  return { ...visit, device }
}

interface Device {
  /** Whether the person shows who they are. */
  setVerified(isVerified: boolean): Promise<void>
}

/** Chromium's own authenticator in software. */
async function plugIn(page: Page): Promise<Device> {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
  return {
    async setVerified(isUserVerified) {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
  }
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel(label('Username')).fill('admin')
  await page.getByLabel(label('Password')).fill(site.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Forgets the session as a new browser would, but keeps what is plugged in. */
async function signOut(page: Page): Promise<void> {
  await page.context().clearCookies()
  await page.goto(`${originOf()}/login`)
}

const isInside = (page: Page) => page.waitForURL(`${originOf()}/`)
/** The same, with a page that is loaded: the server is about to end. */
async function openInside(page: Page): Promise<void> {
  await isInside(page)
  await openAccount(page)
}
const card = (page: Page) => page.getByRole('region', { name: 'Second Factors' })
const dialog = (page: Page) => page.getByRole('dialog')

async function openAccount(page: Page): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/account`)
  await card(page).getByRole('button', { name: 'App' }).first().waitFor()
}

/** @returns the secret and the recovery codes, which must be shown */
async function setUpApp(page: Page): Promise<{ secret: string; codes: string[] }> {
  await dialog(page).getByLabel(label('Your Password')).fill(site.password)
  await dialog(page).getByRole('button', { name: 'Continue' }).click()
  const secret = await dialog(page).getByLabel('Secret', { exact: true }).inputValue()
  await dialog(page).getByRole('img', { name: 'QR code with the secret' }).waitFor()
  await dialog(page).getByLabel(label('Code')).fill(oneTimeCode(secret))
  await dialog(page).getByRole('button', { name: 'Set Up' }).click()
  return { secret, codes: await keepCodes(page) }
}

async function keepCodes(page: Page): Promise<string[]> {
  const items = dialog(page).getByRole('listitem')
  await expect(items).toHaveCount(10)
  const codes = await items.allInnerTexts()
  await dialog(page).getByRole('button', { name: 'Copy the recovery codes' }).click()
  await expectClipboard(page, codes.join('\n'))
  await dialog(page).getByRole('button', { name: 'I Have Kept Them' }).click()
  return codes
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Add (a )?Passkey$/ }).click()
  await dialog(page).getByLabel(label('Name')).fill(name)
  await dialog(page).getByLabel(label('Your Password')).fill(site.password)
  await dialog(page).getByRole('button', { name: 'Continue' }).click()
}

it('an app is set up, asked for after the password, and a recovery code stands in for it', async () => {
  const visit = await openNamed()
  const { page, forgive } = visit
  forgive(/401|not accepted|422|not set up/)
  await signIn(page)
  await isInside(page)
  await openAccount(page)
  await visit.expectAccessible()
  await card(page).getByRole('button', { name: 'Set Up App' }).click()
  await visit.expectAccessible()
  const { codes } = await setUpApp(page)
  await card(page).getByText('10 of 10 left').waitFor()
  await signOut(page)
  await signIn(page)
  await page.getByRole('heading', { name: 'One more step' }).waitFor()
  await visit.expectAccessible()
  await page.getByLabel(label('Code')).fill('12345')
  await page.keyboard.press('Enter')
  await page.getByText('Enter the six digits that the app shows, or a recovery code.').waitFor()
  await page.getByLabel(label('Code')).fill('000000')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'This code is not right' }).waitFor()
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel(label('Recovery Code')).fill(codes[3] ?? '')
  await page.keyboard.press('Enter')
  await isInside(page)
  await openAccount(page)
  await card(page).getByText('9 of 10 left').waitFor()
  await card(page).getByRole('button', { name: 'Make New Codes' }).click()
  await dialog(page).getByLabel(label('Your Password')).fill(site.password)
  await dialog(page).getByRole('button', { name: 'Make New Codes' }).click()
  const renewed = await keepCodes(page)
  expect(renewed).not.toEqual(codes)
  await card(page).getByText('10 of 10 left').waitFor()
  await page.close()
})

it('a passkey is added, signs in without a name, confirms a password, and is renamed and removed', async () => {
  const visit = await openNamed()
  const { page, forgive } = visit
  await signIn(page)
  await isInside(page)
  await openAccount(page)
  await addPasskey(page, 'Laptop')
  await keepCodes(page)
  await rowOf(page, 'Laptop').getByText('Not used yet').waitFor()
  await signOut(page)
  await visit.expectAccessible()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await isInside(page)
  await openAccount(page)
  await rowOf(page, 'Laptop').getByText('localhost').waitFor()
  await expect(rowOf(page, 'Laptop').getByText('Not used yet')).toHaveCount(0)
  await signOut(page)
  await signIn(page)
  await page.getByRole('button', { name: 'Use Your Passkey' }).click()
  await isInside(page)
  await openAccount(page)
  await choose(page, 'Actions for passkey Laptop', 'Rename')
  await dialog(page).getByLabel(label('Name')).fill('Desk')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await rowOf(page, 'Desk').waitFor()
  await choose(page, 'Actions for passkey Desk', 'Remove')
  await dialog(page).getByText('your password alone is enough').waitFor()
  forgive(/422|not removed/)
  await dialog(page).getByLabel(label('Your Password')).fill('not the password')
  await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click()
  await dialog(page).getByText('The password is not right.').waitFor()
  await dialog(page).getByLabel(label('Your Password')).fill(site.password)
  await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click()
  await card(page).getByText('No Passkeys yet').waitFor()
  await signOut(page)
  await signIn(page)
  await openInside(page)
  await page.close()
})

it('a new password removes passkeys too, in case somebody else added one', async () => {
  const { page } = await openNamed()
  await signIn(page)
  await isInside(page)
  await openAccount(page)
  await addPasskey(page, 'Laptop')
  await keepCodes(page)
  await page.getByRole('button', { name: 'Change Password' }).click()
  await expect(dialog(page).getByLabel('Remove my passkeys too')).toBeChecked()
  await dialog(page).getByLabel(label('Present Password')).fill(site.password)
  await dialog(page).getByLabel(label('New Password')).fill(site.password)
  await dialog(page).getByLabel(label('The Same Again')).fill(site.password)
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await page.getByText('and 1 passkey').waitFor()
  await card(page).getByText('No Passkeys yet').waitFor()
  await page.close()
})

it('a passkey that does not ask who it is opens nothing, and the page says why', async () => {
  const { page, device, forgive } = await openNamed()
  forgive(/failed|not accepted/)
  await signIn(page)
  await isInside(page)
  await openAccount(page)
  await addPasskey(page, 'Laptop')
  await keepCodes(page)
  await signOut(page)
  await device.setVerified(false)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('alert').filter({ hasText: 'it was cancelled, or took too long' }).waitFor()
  await device.setVerified(true)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await openInside(page)
  await page.close()
})

it('where one is required, people set it up before anything else, also those who are inside already', async () => {
  const { page, forgive } = await openNamed({ width: 390 })
  forgive(/403|Failed to load|second factor/)
  await signIn(page)
  await isInside(page)
  await page.goto(`${originOf()}/settings`)
  await page.getByRole('button', { name: 'Edit Sign-In of the Console' }).click()
  await dialog(page).getByLabel('Require a Second Factor').selectOption({ label: 'Everybody' })
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/account/second-factor')
  await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
  await page.goto(`${originOf()}/nodes`)
  await page.waitForURL('**/account/second-factor')
  await page.getByRole('button', { name: 'Set Up an Authenticator App' }).click()
  await setUpApp(page)
  await page.waitForURL('**/nodes')
  await page.getByRole('heading', { name: 'Client / Nodes' }).waitFor()
  await openAccount(page)
  await card(page).getByText('Required here').waitFor()
  forgive(/409|not removed/)
  await card(page).getByRole('button', { name: 'Remove App' }).click()
  await dialog(page).getByLabel(label('Your Password')).fill(site.password)
  await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click()
  await dialog(page).getByText('A second factor is required here: add another one first').waitFor()
  await page.close()
})

it('at an address there are no passkeys, and the page Account says so', async () => {
  const visit = await site.open('/account')
  const { page } = visit
  await card(page)
    .getByText(/Passkeys work at a name only, and this is 127\.0\.0\.1:\d+\./)
    .waitFor()
  await expect(page.getByRole('button', { name: 'Add Passkey' })).toHaveCount(0)
  await visit.expectAccessible()
  const login = await site.open('/login', { signedIn: false })
  await login.page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  await expect(login.page.getByRole('button', { name: 'Sign in with a passkey' })).toHaveCount(0)
  await login.page.close()
  await page.close()
})

it('what passkeys need is loaded with the first use only', async () => {
  const { page, forgive } = await openNamed()
  // There is none yet.
  forgive(/Signing in by a passkey failed/)
  const scripts: string[] = []
  page.on('response', (response) => {
    if (response.url().endsWith('.js')) scripts.push(response.url())
  })
  await page.reload()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
  const before = scripts.length
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await expect.poll(() => scripts.length).toBeGreaterThan(before)
  await page.close()
})

it('an administrator removes what a person has lost, who then comes in by password alone', async () => {
  const { page } = await site.open('/no/such/page')
  const invited = (await site.api.call('POST', '/api/people', { username: 'ann', role: 'viewer' })).json
  const accepted = await site.api.call('POST', '/api/invites/accept', {
    token: (invited as InvitedPerson).token,
    password: 'long enough 1',
  })
  const { login } = accepted.json as { login: Login }
  const asAnn = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${login.token}`, 'content-type': 'application/json' }
    const answer = await fetch(site.origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return answer.json()
  }
  const { secret, ticket } = await asAnn('/api/account/authenticator', { password: 'long enough 1' })
  await asAnn('/api/account/authenticator/confirm', { ticket, code: oneTimeCode(secret) })
  const signInAgain = async () => {
    const body = { username: 'ann', password: 'long enough 1' }
    return (await site.api.call('POST', '/api/auth/login', body)).json
  }
  expect(await signInAgain()).toHaveProperty('second_factor')
  await page.goto(`${site.origin}/people`)
  await choose(page, 'Actions for ann', 'Remove Second Factors')
  await page.getByRole('button', { name: 'Yes, remove them!' }).click()
  await page.getByText('Second factors removed successfully!').waitFor()
  expect(await signInAgain()).toHaveProperty('token')
  await page.getByRole('button', { name: 'Actions for ann', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).waitFor()
  await expect(page.getByRole('menuitem', { name: 'Remove Second Factors' })).toHaveCount(0)
  await page.close()
})
