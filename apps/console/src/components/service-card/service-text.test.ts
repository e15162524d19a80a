import { describe, expect, it } from 'vitest'
import { backendText, ipListText, proxyText, restrictionText } from './service-text.ts'

const target = { backendProto: 'http', backendHost: '192.168.7.12', backendPort: 8080 } as const

describe('service texts', () => {
  it('name the backend with and without a host', () => {
    expect(proxyText(target)).toBe('Proxy -> 192.168.7.12:8080')
    expect(proxyText({ ...target, backendHost: null })).toBe('Proxy -> http://localhost:8080')
    expect(backendText(target)).toBe('http://192.168.7.12:8080')
    expect(backendText({ ...target, backendProto: 'https', backendHost: null })).toBe(
      'https://localhost:8080',
    )
  })
  it('name the protocol of a TCP service', () => {
    const udp = { proto: 'udp', backendHost: null, backendPort: 53 } as const
    expect(proxyText(udp)).toBe('Proxy -> udp://localhost:53')
    expect(proxyText({ ...udp, backendHost: 'dns.lan' })).toBe('Proxy -> dns.lan:53')
    expect(backendText({ ...udp, proto: 'tcp' })).toBe('tcp://localhost:53')
  })
  it('put an IPv6 address in brackets', () => {
    expect(proxyText({ ...target, backendHost: 'fd00::1' })).toBe('Proxy -> [fd00::1]:8080')
    expect(backendText({ ...target, backendHost: 'fd00::1' })).toBe('http://[fd00::1]:8080')
  })
  it('read an absent list like an empty one', () => {
    expect(ipListText(null, 'No restrictions')).toBe('No restrictions')
    expect(ipListText([], 'None')).toBe('None')
    expect(ipListText(['1.2.3.4', '::1'], 'None')).toBe('1.2.3.4, ::1')
  })
  it('summarise who may connect', () => {
    expect(restrictionText({ allowedIps: [], blockedIps: [] })).toBeUndefined()
    expect(restrictionText({ allowedIps: ['a', 'b', 'c', 'd'], blockedIps: ['e'] })).toBe(
      'Only a, b, c and 1 more may connect; e may not connect',
    )
  })
})
