import { readdirSync, readFileSync } from 'node:fs'
import type { Service, ServiceType } from '@postern/contract/services/services'
import { shared } from '@postern/testkit/shared'
import type { Locator } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect } from './expect.ts'
import { label, startSite, type Visit } from './harness.ts'

/** Saves a service with the values of each table of the recipes, in the console's own form. */
const RECIPES = new URL('../../docs/recipes/', import.meta.url)

interface Recipe {
  title: string
  type: ServiceType
  /** Label of the field → what to enter. */
  fields: readonly (readonly [string, string])[]
}

const recipes = readdirSync(RECIPES).flatMap((file) => readTables(file))

/** A table belongs to the card that is named before it. */
function readTables(file: string): Recipe[] {
  const text = readFileSync(new URL(file, RECIPES), 'utf8')
  const [, ...parts] = text.split(/\*\*(?=(?:HTTP|TCP) Services\*\*)/)
  return parts.flatMap((part) => {
    const table = part.split(/^\| Field \| Value \|$/m)[1]?.split('\n\n')[0] ?? ''
    const rows = [...table.matchAll(/^\| ([^|`]+) \| `?([^|`]+)`? \|$/gm)]
    const fields = rows.map(([, name = '', value = '']) => [name, value] as const)
    const type = part.startsWith('HTTP') ? 'http' : 'tcp'
    return [{ title: `${file}: ${Object.fromEntries(fields)['Service Name']}`, type, fields }]
  })
}

let visit: Visit

const site = shared(() => startSite())
const node = shared(() => site.api.createNode({ name: 'home' }))
beforeAll(async () => {
  const names = new Set(recipes.flatMap(({ fields }) => fields.filter(([name]) => isDomain(name))))
  // They do not resolve on this machine.
  for (const domain of new Set([...names].map(([, value]) => value))) await site.api.createDomain({ domain })
  visit = await site.open(`/nodes/${node.id}`)
})
afterAll(async () => {
  await visit?.close()
})

const isDomain = (name: string) => name.startsWith('Public Domain')

it('every recipe has a table', () => {
  const files = readdirSync(RECIPES)
  expect(files.filter((file) => !recipes.some(({ title }) => title.startsWith(file)))).toEqual([])
})

describe.each(recipes)('$title', ({ type, fields }) => {
  it('is saved with the values of the table', async () => {
    const { page } = visit
    await page.goto(`${site.origin}/nodes/${node.id}`)
    const card = page.getByRole('region', { name: `${type.toUpperCase()} Services` })
    await card.getByRole('button', { name: 'Add Service' }).first().click()
    const form = page.getByRole('dialog', { name: `Expose ${type.toUpperCase()} Service on Node` })
    for (const [name, value] of fields) await enter(form, name, value)
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Got it!' }).click()
    const saved = (await site.api.call('GET', `/api/services/${node.id}/${type}`)).json as Service[]
    const values = new Map(fields)
    const port = values.get('Public Port (Optional)')
    expect(saved.find((service) => service.name === values.get('Service Name'))).toMatchObject({
      domain: values.get('Public Domain') ?? values.get('Public Domain (Optional)'),
      backendPort: Number(values.get('Backend Port')),
      allowedIps: [values.get('Allowed IPs')].filter(Boolean),
      ...(port && { port: Number(port) }),
      ...(type === 'http'
        ? { backendProto: values.get('Backend Protocol')?.replace('://', '') }
        : { proto: values.get('Protocol')?.replace('://', '') }),
      ...(type === 'tcp' && { ssl: false }),
    })
  })
})

async function enter(form: Locator, name: string, value: string): Promise<void> {
  if (name.endsWith(' IPs')) {
    const list = form.getByRole('group', { name })
    await list.getByRole('button', { name: 'Add IP' }).click()
    return list.getByRole('textbox').last().fill(value)
  }
  // The label of a box goes on with what it means.
  if (value === 'no') return expect(form.getByLabel(name)).not.toBeChecked()
  const field = form.getByLabel(label(name))
  if (name.endsWith('Protocol')) return void (await field.selectOption({ label: value }))
  await field.fill(value)
}
