import { shared } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { type Fate, startVrrpLab, type VrrpLab } from './vrrp-lab.ts'

/** Rounds of each; `npm run test:long` has more (tests/deploy/vrrp.test.ts). */
const ROUNDS = 2
const LONGEST_GAP = 5000
const FATES: Fate[] = ['its machine dies', 'its link is cut', 'its HAProxy is killed', 'its HAProxy hangs']

const lab: VrrpLab = shared(startVrrpLab)

describe.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))('round %i', () => {
  it.each(FATES)('three edges behind one address answer within seconds when %s', async (fate) => {
    const { gap, wrong, visits } = await lab.strike(fate)
    expect(visits).toBeGreaterThan(50)
    expect(wrong).toEqual([])
    expect(gap).toBeLessThan(LONGEST_GAP)
  })
})
