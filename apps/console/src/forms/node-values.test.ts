import { NodeForm } from '@postern/contract/nodes'
import { describe, expect, it } from 'vitest'
import { NEW_NODE, nextRow, nodeValues, rowsForGateway } from './node-values.ts'

const node = {
  id: 2,
  name: 'office',
  address: '10.64.0.2',
  dns: null,
  keepalive: 0,
  allowInternet: false,
  advanced: true,
  agentMayPublish: true,
  agentDomains: ['*.example.com'],
  agentMaxServices: 300,
  agentMaxDomains: 60,
  agentMaxPorts: 30,
  agentMaxEntries: 6000,
  isGateway: true,
  gatewayNetworks: [{ interface: 'eth0', subnet: '192.168.7.0/24' }],
  isLocal: false,
  usesFile: false,
  fileEdges: null,
  enabled: true,
  status: 'online',
  problem: null,
  clientIp: null,
  latestHandshakeTimestamp: null,
  transferRx: 0,
  transferTx: 0,
  tokens: 1,
  services: 0,
  mute: null,
  created_at: '',
  updated_at: '',
} as const

describe('the values of the node form', () => {
  it('of a new node are the defaults of the contract', () => {
    expect(NodeForm.parse({ ...NEW_NODE, name: 'a' })).toEqual(NodeForm.parse({ name: 'a' }))
  })

  it('of an existing node go through the contract and come back as they were', () => {
    const record = {
      ...node,
      gatewayNetworks: [...node.gatewayNetworks],
      agentDomains: [...node.agentDomains],
    }
    expect(NodeForm.parse(nodeValues(record))).toEqual({
      name: 'office',
      address: '10.64.0.2',
      dns: null,
      keepalive: 0,
      isGateway: true,
      gatewayNetworks: [{ interface: 'eth0', subnet: '192.168.7.0/24' }],
      allowInternet: false,
      advanced: true,
      agentMayPublish: true,
      agentDomains: ['*.example.com'],
      agentMaxServices: 300,
      agentMaxDomains: 60,
      agentMaxPorts: 30,
      agentMaxEntries: 6000,
    })
  })

  it('do not share rows with the record', () => {
    const record = {
      ...node,
      gatewayNetworks: [...node.gatewayNetworks],
      agentDomains: [...node.agentDomains],
    }
    expect(nodeValues(record).gatewayNetworks[0]).not.toBe(record.gatewayNetworks[0])
  })
})

describe('gateway rows', () => {
  it('begin with eth0 and end with none', () => {
    expect(rowsForGateway(true)).toEqual([{ interface: 'eth0', subnet: '' }])
    expect(rowsForGateway(false)).toEqual([])
  })
  it('are named by their count, and never twice', () => {
    const row = (name: string) => ({ interface: name, subnet: '' })
    expect(nextRow([row('eth0')])).toEqual(row('eth1'))
    expect(nextRow([row('eth0'), row('wlan0')])).toEqual(row('eth2'))
    expect(nextRow([row('eth1')])).toEqual(row('eth2'))
  })
})
