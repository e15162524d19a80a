import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { expect, test } from 'vitest'

const PAGE = readFileSync(join(import.meta.dirname, '../..', 'docs/api.md'), 'utf8')

/** What the table's last column says; a session or an API token goes without saying. */
const NEEDS: Readonly<Record<Endpoint['auth'], string>> = {
  none: 'nothing',
  session: '',
  download: '',
  stream: 'a session or a ticket',
  'session or node': "a session or a node's token",
  node: "a node's token",
  edge: "the edge's token",
}

test('the page has each endpoint once, with the token that it needs', () => {
  const rows = [...PAGE.matchAll(/^\| `([A-Z]+ \/api\S*)` \| (?:\S.*?) \| (.*?) ?\|$/gm)]
  const told = rows.map(([, endpoint = '', needs = '']) => `${endpoint}: ${needs}`)
  const real = Object.values<Endpoint>(endpoints).map(
    ({ method, path, auth, isSessionOnly }) =>
      `${method} ${path}: ${isSessionOnly ? 'a session, and no API token' : NEEDS[auth]}`,
  )
  expect(told.sort()).toEqual(real.sort())
})
