import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PatForm } from './pats.ts'

/** What is nearly an instant, and what is none at all. */
const hostile = fc.oneof(
  fc.string({ maxLength: 60, unit: 'binary' }),
  fc.constantFrom(
    '0000-01-01T00:00:00Z',
    '2027-01-05T24:00:00Z',
    '+010000-01-01T00:00:00Z',
    'now',
    '2027-13-01T00:00Z',
  ),
  fc
    .record({ year: fc.nat(9999), month: fc.nat(14), day: fc.nat(33), hour: fc.nat(26), zone: fc.nat(30) })
    .map(({ year, month, day, hour, zone }) => {
      const two = (value: number) => String(value).padStart(2, '0')
      return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:00:00+${two(zone)}:00`
    }),
  fc.constantFrom(null, undefined, 0, Number.NaN, {}, [], true),
)

it('whatever is sent as expiry is refused, or the same moment as everybody writes it', () => {
  fc.assert(
    fc.property(hostile, (expireAt) => {
      const form = PatForm.safeParse({ name: 'x', expireAt })
      if (!form.success) return
      const taken = form.data.expireAt
      if (taken === null) {
        expect([null, undefined, '']).toContain(expireAt)
        return
      }
      expect(taken).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(Date.parse(taken)).toBe(Date.parse(String(expireAt)))
      // No day that its month does not have has become one of the next month.
      const day = String(expireAt).slice(0, 10)
      expect(new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10)).toBe(day)
    }),
    { numRuns: 2000 },
  )
})

it('whatever is sent as name is refused, or one line with something to see', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 120, unit: 'binary' }), (name) => {
      const form = PatForm.safeParse({ name })
      if (!form.success) return
      expect(form.data.name).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]{1,100}$/u)
      expect(form.data.name.trim()).toBe(form.data.name)
    }),
    { numRuns: 1000 },
  )
})
