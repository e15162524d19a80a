import { shared } from '@postern/testkit/shared'
import { expect, it } from 'vitest'
import { type Fate, startVrrpLab, type VrrpLab } from '../net/edges/vrrp-lab.ts'

/** More often than tests/net/edges/vrrp.test.ts; `ROUNDS=20` for a longer run. */
const ROUNDS = Number(process.env.ROUNDS ?? 5)
const LONGEST_GAP = 5000
const FATES: Fate[] = ['its machine dies', 'its link is cut', 'its HAProxy is killed']

const lab: VrrpLab = shared(startVrrpLab)

it.each(FATES)(
  'visitors lose less than five seconds each time that %s',
  { timeout: 1_800_000 },
  async (fate) => {
    const gaps: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const { gap, wrong } = await lab.strike(fate)
      expect(wrong).toEqual([])
      gaps.push(gap)
    }
    process.stdout.write(`${fate}: ${gaps.sort((a, b) => a - b).join(', ')} ms without a new connection\n`)
    expect(gaps.at(-1)).toBeLessThan(LONGEST_GAP)
  },
)
