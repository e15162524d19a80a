import { endpoints } from '@postern/contract/endpoints'
import { expect, test } from 'vitest'
import { isCompressible } from './compression.ts'

/** None may hold a secret: a new one stands here once somebody has looked. */
const COMPRESSED = [
  'find',
  'me',
  'getOverview',
  'listAttention',
  'checkPublicHost',
  'listEdges',
  'listNodes',
  'getNode',
  'nodeFigures',
  'listTokens',
  'listDomains',
  'listEndingCertificates',
  'getRoot',
  'getDomain',
  'listSignIns',
  'listServices',
  'listNodeServices',
  'getService',
  'serviceFigures',
  'checkProvider',
  'getTrial',
]

test('answers that hold no secret are compressed, and no others', () => {
  const compressed = Object.entries(endpoints).filter(([, endpoint]) => isCompressible(endpoint))
  expect(compressed.map(([name]) => name).sort()).toEqual([...COMPRESSED].sort())
})
