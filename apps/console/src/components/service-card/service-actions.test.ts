import type { HttpService } from '@postern/contract/services/services'
import { describe, expect, it } from 'vitest'
import { rulesFor } from '../../api/rules.ts'
import { type ServiceVerbs, serviceMenu } from './service-actions.tsx'

const verb = () => undefined
const verbs = {
  info: verb,
  logs: verb,
  requests: verb,
  traffic: verb,
  history: verb,
  enable: verb,
  disable: verb,
  mute: verb,
  remove: verb,
}
const service: HttpService = {
  type: 'http',
  id: 1,
  nodeId: 2,
  nodeName: 'n',
  name: 'web',
  domain: null,
  pathLocation: '/',
  stripPath: false,
  backendProto: 'http',
  requireAuth: false,
  skipAuthRoutes: null,
  backendHost: null,
  backendPort: 80,
  allowedIps: [],
  blockedIps: [],
  endsAt: null,
  enabled: true,
  ssl: true,
  selfSigned: true,
  dnsUnchecked: false,
  publicAccess: null,
  system: false,
  source: null,
  mute: null,
  state: { phase: 'live', problem: null },
  created_at: '',
  updated_at: '',
}
const texts = (of: HttpService, verbs: ServiceVerbs) =>
  serviceMenu(of, rulesFor({ role: 'admin', reach: null }).service, verbs).map((group) =>
    group.flatMap((item) => (item ? [item.text] : [])),
  )

describe('the menu of a service', () => {
  it('edits in the context of its node', () => {
    expect(texts(service, { ...verbs, edit: verb })).toEqual([
      ['Info', 'Logs Monitor', 'Requests', 'Traffic', 'History'],
      ['Edit Service'],
      ['Mute Alerts'],
      ['Disable Access', 'Delete Service'],
    ])
  })
  it('leads to the node elsewhere, and can enable a disabled service', () => {
    expect(texts({ ...service, enabled: false }, { ...verbs, goToNode: verb })).toEqual([
      ['Info', 'Logs Monitor', 'Requests', 'Traffic', 'History'],
      ['Go to node'],
      ['Mute Alerts'],
      ['Enable Access', 'Delete Service'],
    ])
  })
  it('shows the settings of what an agent publishes, which can be disabled and deleted', () => {
    expect(texts({ ...service, source: 'docker' }, { ...verbs, edit: verb })).toEqual([
      ['Info', 'Logs Monitor', 'Requests', 'Traffic', 'History'],
      ['Show Settings'],
      ['Mute Alerts'],
      ['Disable Access', 'Delete Service'],
    ])
  })
  it('offers neither to disable nor to delete the console itself', () => {
    expect(texts({ ...service, system: true }, { ...verbs, edit: verb })).toEqual([
      ['Info', 'Logs Monitor', 'Requests', 'Traffic', 'History'],
      ['Edit Service'],
      [],
      [],
    ])
  })
})
