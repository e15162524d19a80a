import { utimesSync, writeFileSync } from 'node:fs'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { noteSecurityUpdates } from '../../../../scripts/bootstrap/security-updates.mjs'
import { readUpdates } from './updates.ts'

const dir = tempDir()
const places = { file: `${dir}/updates.json`, dpkgDir: dir }
const NFT = { name: 'nftables', installed: '1.0.6-2', candidate: '1.0.6-2+deb12u2' }
const WG = { name: 'wireguard-go', installed: '0.0.1', candidate: '0.0.2' }

test('nothing is known before a look', () => {
  expect(readUpdates(places)).toBeNull()
  writeFileSync(places.file, 'half of somethi')
  expect(readUpdates(places)).toBeNull()
  noteSecurityUpdates([{ ...NFT, name: '../shadow' }], places.file)
  expect(readUpdates(places)).toBeNull()
})

test('what a look found waits until it is installed', () => {
  noteSecurityUpdates([NFT, WG], places.file)
  const hour = 3600
  const now = Date.now() / 1000
  utimesSync(places.file, now, now)
  writeFileSync(`${dir}/nftables.list`, '')
  utimesSync(`${dir}/nftables.list`, now - hour, now - hour)
  expect(readUpdates(places)).toEqual([NFT, WG])
  utimesSync(`${dir}/nftables.list`, now + hour, now + hour)
  expect(readUpdates(places)).toEqual([WG])
  noteSecurityUpdates([], places.file)
  expect(readUpdates(places)).toEqual([])
})
