import type { InvitedPerson } from '@postern/contract/people/people'
import { duringTest, shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { describe, it } from 'vitest'
import { startMailServer } from '../../../apps/server/test/mail-server.ts'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'

/** A channel reaches a mail server of this machine itself on the ports of mail alone. */
const PORTS = [2525, 587, 465, 25]

const site = shared(() => startSite())
const mail = shared(() => startMailServer({ security: 'none', ports: PORTS }))

const CHANNEL = {
  kind: 'email',
  name: 'Mail',
  host: '127.0.0.1',
  inPrivateNetwork: true,
  security: 'none',
  sender: 'postern@example.com',
  recipients: ['ops@example.com'],
}
const addChannel = () =>
  duringTest(async () => {
    const { json } = await site.api.call('POST', '/api/alerts/channels', { ...CHANNEL, port: mail.port })
    const { id } = json as { id: number }
    return { close: () => site.api.call('DELETE', `/api/alerts/channels/${id}`).then(() => undefined) }
  })

/** Without the alerts, which go to others. */
const links = () => mail.mails.filter(({ to }) => !to.includes('ops@example.com'))

const SEND_TO = label('Send the link to')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const shownLink = (page: Page) => page.getByLabel('Link', { exact: true })

describe.each([1440, 390])('at %d px', (width) => {
  it('an invitation is sent to an address, and shown as well', async () => {
    await addChannel()
    mail.mails.splice(0)
    const visit = await site.open('/people', { width })
    const { page } = visit
    await button(page, 'Invite').click()
    const form = page.getByRole('dialog', { name: 'Invite' })
    await form.getByLabel(label('Name')).fill(`ann ${width}`)
    await form.getByLabel(SEND_TO).fill('ann')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('must be a valid email').waitFor()
    await form.getByLabel(SEND_TO).fill('ann@example.com')
    await visit.expectAccessible()
    await form.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Invitation' })
    await dialog.getByText('Sent to ann@example.com.').waitFor()
    await visit.expectAccessible()
    const link = await shownLink(page).inputValue()
    expect(links().map(({ to }) => to)).toEqual([['ann@example.com']])
    // The line is folded on its way.
    expect(links()[0]?.text.replace(/=\r\n/g, '')).toContain(link)
  })

  it('one that is not taken says why, and the link is there', async () => {
    await addChannel()
    const { page } = await site.open('/people', { width })
    await button(page, 'Invite').click()
    await page.getByLabel(label('Name')).fill(`ben ${width}`)
    await page.getByLabel(SEND_TO).fill('nobody@example.com')
    await button(page, 'Save').click()
    await page.getByText('Not sent to nobody@example.com.').waitFor()
    await page.getByText('127.0.0.1 refused the sender or a recipient (550).').waitFor()
    await expect(shownLink(page)).toHaveValue(/#pti_/)
  })

  it('a link for a new password is sent, too, or made without an address', async () => {
    await addChannel()
    mail.mails.splice(0)
    const username = `dora ${width}`
    const { json } = await site.api.call('POST', '/api/people', { username, role: 'viewer' })
    const { token } = json as InvitedPerson
    await site.api.call('POST', '/api/invites/accept', { token, password: 'long enough 1' })
    const { page } = await site.open('/people', { width })
    const begin = async () => {
      await page.getByRole('button', { name: `Actions for ${username}` }).click()
      await page.getByRole('menuitem', { name: 'New Password' }).click()
    }
    await begin()
    await page.getByLabel(SEND_TO).fill('dora@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('Sent to dora@example.com.').waitFor()
    const first = await shownLink(page).inputValue()
    await button(page, 'Close').last().click()
    await begin()
    await button(page, 'Make Link').click()
    await expect(shownLink(page)).toHaveValue(/#pti_/)
    expect(await shownLink(page).inputValue()).not.toBe(first)
    await expect(page.getByText('Sent to')).toHaveCount(0)
    expect(links()).toHaveLength(1)
  })
})

it('without a channel for e-mail there is no such field', async () => {
  await site.api.call('POST', '/api/people', { username: 'emil', role: 'viewer' })
  const { page } = await site.open('/people')
  await button(page, 'Invite').click()
  await page.getByLabel(label('Name')).waitFor()
  await expect(page.getByLabel(SEND_TO)).toHaveCount(0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Actions for emil' }).click()
  await page.getByRole('menuitem', { name: 'New Link' }).click()
  await expect(shownLink(page)).toHaveValue(/#pti_/)
})
