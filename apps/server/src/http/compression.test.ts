import { endpoints } from '@postern/contract/endpoints'
import { expect, test } from 'vitest'
import { isCompressible } from './compression.ts'

test.each([
  'login',
  'ticket',
  'createNode',
  'createToken',
  'downloadNode',
  'config',
  'agentConfig',
  'edgeState',
  'streamHints',
] as const)('%s, which may hold a secret or is a stream, is never compressed', (name) => {
  expect(isCompressible(endpoints[name])).toBe(false)
})

test.each(['listNodes', 'listServices', 'listEdges', 'getOverview'] as const)('%s is', (name) => {
  expect(isCompressible(endpoints[name])).toBe(true)
})
