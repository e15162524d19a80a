import type { Domain } from '@postern/contract/domains'
import type { Node } from '@postern/contract/nodes'
import type { Service } from '@postern/contract/services/services'
import type { Role } from '@postern/contract/sign-in/auth'
import { describe, expect, it } from 'vitest'
import { rulesFor } from '../../api/rules.ts'
import { type Act, domainActs, exposeActs, type Means, manyActs, nodeActs, serviceActs } from './acts.ts'
import type { Verb } from './read-typed.ts'

const VERBS: readonly Verb[] = [
  ...([
    'logs',
    'requests',
    'why',
    'open',
    'edit',
    'enable',
    'disable',
    'delete',
    'rotate',
    'copy',
    'add',
  ] as const),
]
const nothing = () => undefined
const verbs = {
  logs: nothing,
  why: nothing,
  requests: nothing,
  enable: nothing,
  disable: nothing,
  remove: nothing,
}

// Only what the acts read.
const meansOf = (role: Role) =>
  ({ can: rulesFor({ role, reach: null }), verbsOf: () => verbs }) as unknown as Means
const service = {
  id: 1,
  name: 'wiki',
  enabled: true,
  system: false,
  source: null,
  publicAccess: 'https://wiki',
}
const wiki = service as Service
const nas = { id: 2, name: 'nas', enabled: true, isLocal: false, services: 3, address: '10.64.0.2' } as Node
const domain = { id: 3, domain: 'wiki.example.com' } as Domain

const textsOf = (acts: (verb: Verb) => Act[]) => VERBS.flatMap(acts).map(({ text }) => text)

describe('what an administrator may do', () => {
  const means = meansOf('admin')
  it('with a service', () => {
    expect(textsOf((verb) => serviceActs(verb, wiki, means))).toEqual([
      'Logs of wiki',
      'Requests of wiki',
      'Why is wiki not reachable?',
      'Edit wiki',
      'Disable wiki',
      'Delete wiki',
      'Copy address of wiki',
    ])
    const off = serviceActs('enable', { ...wiki, enabled: false }, means)
    expect(off.map(({ text }) => text)).toEqual(['Enable wiki'])
  })
  it('with one that an agent publishes, which can be changed only there', () => {
    const [act] = serviceActs('edit', { ...wiki, source: 'docker' }, means)
    expect(act?.text).toBe('Show settings of wiki')
  })
  it('with a node and a domain', () => {
    expect(textsOf((verb) => nodeActs(verb, nas, means))).toEqual([
      ...['Requests of nas', 'Edit nas', 'Disconnect nas', 'Delete nas', 'Rotate token of nas'],
      'Copy address of nas',
    ])
    expect(textsOf((verb) => domainActs(verb, domain, means))).toEqual([
      ...[
        'Logs of wiki.example.com',
        'Requests of wiki.example.com',
        'Why is wiki.example.com not reachable?',
      ],
      ...['Edit wiki.example.com', 'Delete wiki.example.com', 'Copy address of wiki.example.com'],
    ])
  })
  it('with all services of a node', () => {
    expect(textsOf((verb) => manyActs(verb, nas, means))).toEqual([
      ...['Enable all 3 services of nas', 'Disable all 3 services of nas', 'Delete all 3 services of nas'],
    ])
    const own = { ...nas, name: 'Local', isLocal: true, services: 2 }
    expect(manyActs('disable', own, means).map(({ text }) => text)).toEqual([
      'Disable the only service of Local',
    ])
    expect(manyActs('disable', { ...own, services: 1 }, means)).toEqual([])
  })
})

it('a person who may only look is offered nothing that changes something', () => {
  const means = meansOf('viewer')
  expect(textsOf((verb) => serviceActs(verb, wiki, means))).toEqual([
    ...['Logs of wiki', 'Requests of wiki', 'Why is wiki not reachable?', 'Show settings of wiki'],
    'Copy address of wiki',
  ])
  expect(textsOf((verb) => nodeActs(verb, nas, means))).toEqual(['Requests of nas', 'Copy address of nas'])
  expect(textsOf((verb) => domainActs(verb, domain, means))).not.toContain('Delete wiki.example.com')
  expect(textsOf((verb) => manyActs(verb, nas, means))).toEqual([])
  expect(exposeActs(nas, undefined, means)).toEqual([])
})
