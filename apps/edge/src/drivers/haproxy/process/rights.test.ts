import { describe, expect, test } from 'vitest'
import { haproxyArgv, parseRights, RightsError } from './rights.ts'

const status = (capabilities: string, noNewPrivileges: number) =>
  `Name:\tnode\nCapPrm:\t${capabilities}\nCapEff:\t${capabilities}\nNoNewPrivs:\t${noNewPrivileges}\n`
const UNIT = status('00000000000435e1', 1)
const CONTAINER = status('0000000000001400', 1)

describe('HAProxy is started', () => {
  test('unchanged where it becomes a user of its own, as under systemd, and where we are not root', () => {
    expect(haproxyArgv(['-D'], true, parseRights(UNIT))).toEqual(['haproxy', ['-D']])
    expect(haproxyArgv(['-D'], false, parseRights(CONTAINER))).toEqual(['haproxy', ['-D']])
  })

  test('after giving up all but low ports, where root may not change users', () => {
    const [program, args] = haproxyArgv(['-D'], true, parseRights(CONTAINER))
    expect([program, ...args]).toEqual(
      'capsh --caps=cap_net_bind_service=ep --shell=/usr/bin/env -- haproxy -D'.split(' '),
    )
  })

  test('not at all where it would keep the rights of the edge', () => {
    const rights = parseRights(status('0000000000001400', 0))
    expect(() => haproxyArgv([], true, rights)).toThrow(RightsError)
  })
})
