import { shared } from '@postern/testkit/shared'
import type { Locator } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { choose } from '../steps.ts'

const site = shared(() => startSite())

it.each([
  ['HTTP', 'Public Domain'],
  ['TCP', 'Public Domain (Optional)'],
])(
  'the %s form searches domains once typing pauses, offers the first 20, and accepts any name',
  async (type, field) => {
    const names = Array.from({ length: 25 }, (_, index) => `h${index + 10}.${type.toLowerCase()}.test`)
    for (const domain of names) await site.api.createDomain({ domain })
    const { page } = await site.open('/nodes')
    await choose(page, 'Actions for Local', `Expose ${type}`)
    const domain = page.getByLabel(field, { exact: true })
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/api/domains')
        asked.push(`${searchParams.get('limit')} ${searchParams.get('search')}`)
    })
    await domain.click()
    await typeAtOnce(domain, `.${type}.TEST`)
    const options = page.getByRole('option')
    await expect(options).toHaveText(names.slice(0, 20))
    const searches = () => new Set(asked.filter((query) => query !== '20 null'))
    await expect.poll(searches).toEqual(new Set([`20 .${type}.TEST`]))
    await domain.fill(`h33.${type}`)
    await expect(options).toHaveText([`${names[23]}`])
    await options.click()
    await expect(domain).toHaveValue(`${names[23]}`)
    await domain.fill(`h99.${type}.test`)
    await page.getByText('No match. This will be added as a new domain.').waitFor()
  },
)

/** Types key by key, so fast that no time passes. */
async function typeAtOnce(field: Locator, text: string): Promise<void> {
  await field.evaluate(async (input, value) => {
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set
    for (let end = 1; end <= value.length; end++) {
      setter?.call(input, value.slice(0, end))
      input.dispatchEvent(new Event('input', { bubbles: true }))
      // The page's immediate reactions happen now; no timer runs before the last key.
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    }
  }, text)
}
