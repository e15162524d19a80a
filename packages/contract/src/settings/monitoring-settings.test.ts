import { describe, expect, it } from 'vitest'
import { closedPortsOf, isServicePort, parseEdgeSettings, parseSettings } from './settings.ts'

const TOKEN = 'x'.repeat(32)
const at = (address: string) =>
  parseSettings({ POSTERN_METRICS_ADDRESS: address, POSTERN_METRICS_TOKEN: TOKEN }).POSTERN_METRICS_ADDRESS

describe('the settings of monitoring', () => {
  it.each([
    ['127.0.0.1:9464', '127.0.0.1', 9464],
    ['0.0.0.0:1', '0.0.0.0', 1],
    ['192.168.7.5:65535', '192.168.7.5', 65_535],
    ['100.64.1.1:9464', '100.64.1.1', 9464],
    ['[::]:9464', '::', 9464],
    ['[fd00::5]:9464', 'fd00::5', 9464],
  ])('have metrics told at %s', (address, host, port) => {
    expect(at(address)).toEqual({ host, port })
  })

  it.each([
    // Of the internet, also where it is the machine's own.
    ...['203.0.113.1:9464', '[2001:db8::1]:9464'],
    ...['127.0.0.1', '127.0.0.1:0', '127.0.0.1:65536', '::1:9464', '[127.0.0.1]:9464', 'localhost:9464'],
  ])('refuse to tell them at %s', (address) => {
    expect(() => at(address)).toThrow(/^POSTERN_METRICS_ADDRESS must be a private address and a port/)
  })

  it.each([80, 443, 3000])('refuse port %s, which is another of ours', (port) => {
    expect(() => at(`127.0.0.1:${port}`)).toThrow(/^POSTERN_METRICS_ADDRESS needs a port of its own/)
  })

  it('have both or none of what belongs together', () => {
    const parse = (settings: Record<string, string>) => () => parseSettings(settings)
    expect(parse({ POSTERN_METRICS_TOKEN: TOKEN })).toThrow('belong together')
    expect(parse({ POSTERN_METRICS_TOKEN: TOKEN, POSTERN_METRICS_TOKEN_FILE: '/a' })).toThrow('not both')
    expect(parse({ POSTERN_OTLP_HEADERS: 'a=b' })).toThrow('needs POSTERN_OTLP_ENDPOINT')
    const otlp = { POSTERN_OTLP_ENDPOINT: 'https://collector.example.com/otlp/' }
    expect(parseSettings(otlp).POSTERN_OTLP_ENDPOINT).toBe('https://collector.example.com/otlp')
    const both = { ...otlp, POSTERN_OTLP_HEADERS: 'a=b', POSTERN_OTLP_HEADERS_FILE: '/a' }
    expect(parse(both)).toThrow('not both')
  })

  it('keep the port of metrics from services, and the token from the edge', () => {
    const settings = parseEdgeSettings({
      POSTERN_METRICS_ADDRESS: '127.0.0.1:32700',
      POSTERN_METRICS_TOKEN: TOKEN,
    })
    expect(settings).toMatchObject({ POSTERN_METRICS_TOKEN: null })
    expect(isServicePort(settings, 32_700)).toBe(false)
    expect(closedPortsOf(settings)).toContain(32_700)
  })
})
