import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findIp, formatIp, isIp, isIpv4 } from './ip.ts'

const texts = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.string({ maxLength: 50 }),
  fc.stringMatching(/^[0-9a-fA-F:.%/ ]{0,50}$/),
  fc.ipV6().map((text) => text.toUpperCase()),
)

describe('an address', () => {
  it('is what the platform takes for one, but for zones', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(isIp(text), text).toBe(isIP(text) !== 0 && !text.includes('%'))
        expect(isIpv4(text), text).toBe(isIP(text) === 4)
      }),
      { numRuns: 5000 },
    )
  })

  it('has one spelling, the one of the URL standard, which says the same address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const ip = findIp(text)
        if (!ip) throw new Error(`${text} was not understood`)
        const spelt = formatIp(ip)
        expect(findIp(spelt)).toEqual(ip)
        const host = new URL(`http://${text.includes(':') ? `[${text}]` : text}/`).hostname
        expect(spelt).toBe(host.replace(/^\[|\]$/g, ''))
      }),
      { numRuns: 3000 },
    )
  })

  it.each(['', '1.2.3', '01.2.3.4', '1.2.3.256', '1.2.3.4.5', '0x7f.1', ' 1.2.3.4', '1.2.3.4\n'])(
    'is not %j',
    (text) => expect(isIp(text)).toBe(false),
  )

  it.each([
    ':::',
    '::1::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    'fe80::1%eth0',
    '::1.2.3',
    '12345::',
    '[::1]',
    ':1::',
  ])('is not %j either', (text) => expect(isIp(text)).toBe(false))
})
