import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shared } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { buildRenderer, type Values } from './helm.ts'

const ROOT = join(import.meta.dirname, '../..')
const renderer = shared(buildRenderer, (it) => it.remove())
const defaultsOf = (name: string) => renderer.open(join(ROOT, 'deploy/helm', name)).defaults

test('charts and product have the same version', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const name of ['postern-gateway', 'postern-server']) {
    const chart = parse(readFileSync(join(ROOT, 'deploy/helm', name, 'Chart.yaml'), 'utf8'))
    expect(chart).toMatchObject({ name, version, appVersion: version })
  }
})

/** The values that every chart has, which the page lists in one sentence. */
const USUAL =
  'podAnnotations podLabels nodeSelector tolerations affinity priorityClassName nameOverride fullnameOverride'

test('the documentation has exactly the existing values, with their defaults', () => {
  const [, gatewayPart = '', serverPart = ''] = readFileSync(join(ROOT, 'docs/kubernetes.md'), 'utf8').split(
    /^## (?:A gateway|The server)$/m,
  )
  const tableOf = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/^\| `([\w.]+)` \| (?:`(.*?)`)? ?\|/gm)].map(([, name, value = '']) => [name, value]),
    )
  expect(tableOf(gatewayPart)).toEqual(flatten(defaultsOf('postern-gateway')))
  expect(tableOf(serverPart)).toEqual(flatten(defaultsOf('postern-server')))
})

/** Dotted name → default as the page writes it; only the name of objects that go to Kubernetes unchanged. */
function flatten(values: Values, path = ''): Record<string, string> {
  return Object.assign(
    {},
    ...Object.entries(values).map(([key, value]) => {
      const name = path + key
      if (USUAL.split(' ').includes(name)) return {}
      if (name === 'sysctls') return { [name]: sysctlsOf(value) }
      if (Array.isArray(value) || /^resources(\.|$)|annotations$|settings$/i.test(name)) {
        return name === 'resources' && 'edge' in Object(value)
          ? flatten(Object(value), 'resources.')
          : { [name]: '' }
      }
      return typeof value === 'object' && value !== null
        ? flatten(Object(value), `${name}.`)
        : { [name]: String(value) }
    }),
  )
}

const sysctlsOf = (list: unknown) =>
  Array.isArray(list) ? list.map(({ name, value }) => `${name}=${value}`).join(', ') : ''
