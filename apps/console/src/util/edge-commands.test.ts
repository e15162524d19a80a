import { expect, test } from 'vitest'
import { edgeComposeLines, joinCommand, joinLine } from './edge-commands.ts'

const ADDRESS = `https://203.0.113.1#sha256:${'a'.repeat(64)}`
const JOIN = { token: 'pte_secret', address: ADDRESS, expiresAt: '2026-11-28T12:00:00Z' }
const url = 'https://203.0.113.1/install/edge.sh'

test('the line checks what it downloads before it runs it', () => {
  expect(joinLine({ url, sha256: 'cafe' }, JOIN)).toBe(
    `f=$(mktemp) && curl -fsSk ${url} -o "$f" && echo "cafe  $f" | sha256sum -c && sh "$f" '${ADDRESS}' pte_secret`,
  )
  expect(joinLine({ url, sha256: null }, JOIN)).toBeNull()
  expect(joinCommand(JOIN)).toMatch(/^postern-edge join 'https:/)
})

test('the lines of the compose file are those at its top', () => {
  expect(edgeComposeLines(JOIN)).toBe(`x-address: &address ${ADDRESS}\nx-token: &token pte_secret`)
})
