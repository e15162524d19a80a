import { endpoints } from '@postern/contract/endpoints/endpoints'
import { expect, test } from 'vitest'
import { isCompressible } from './compression.ts'

/** None may hold a secret: a new one is added here after a person has checked it. */
const COMPRESSED = [
  'getBackups',
  'getFactors',
  'getConsoleSignIn',
  'listIdentities',
  'find',
  'me',
  'getOverview',
  'listApiTokens',
  'listAttention',
  'checkPublicHost',
  'listEdges',
  'getEdgeInstaller',
  'listNodes',
  'getNode',
  'allFigures',
  'edgeFigures',
  'nodeFigures',
  'nodeTraffic',
  'domainFigures',
  'domainTraffic',
  'edgeTraffic',
  'listTokens',
  'listDomains',
  'listEndingCertificates',
  'getRoot',
  'getDomain',
  'listSignIns',
  'listServices',
  'listAllServices',
  'serviceTraffic',
  'listNodeServices',
  'getService',
  'serviceFigures',
  'checkProvider',
  'getTrial',
  'getWhy',
  'getSettings',
  'listAlerts',
  'listDeliveries',
  'listChannels',
  'getChannel',
  'listAlertRules',
  'getAlertRule',
  'getQuietHours',
  'listPeople',
  'getPerson',
  'listSessions',
  'listHistory',
  'getChange',
  'listPendingChanges',
]

test('answers that hold no secret are compressed, and no others', () => {
  const compressed = Object.entries(endpoints).filter(([, endpoint]) => isCompressible(endpoint))
  expect(compressed.map(([name]) => name).sort()).toEqual([...COMPRESSED].sort())
})
