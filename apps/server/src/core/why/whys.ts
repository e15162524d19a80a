import { WHY_STEPS, type Why, type WhyStep } from '@postern/contract/why/why'
import { createGate, type Gate } from '../accounts/gate.ts'
import { NotFoundError, TooManyError } from '../errors.ts'

/** Who asks, and of whose share. */
interface Asked {
  owner: string
  share?: string
}

/** Looks at the ways of visitors, as far as they have come. Nothing of them is stored. */
export interface Whys {
  gate: Gate
  /** @throws TooManyError while the same asker has several under way */
  open(asker: Asked, address: string, visitor: string | null): Why
  /** @throws NotFoundError for one of another asker, or of long ago */
  get(owner: string, id: number): Why
  /** What was seen of a step. */
  note(why: Why, step: Omit<WhyStep, 'at'>): void
}

/** Under way: altogether, waiting for that, and of one asker. */
const AT_ONCE = 4
const WAITING = 4
const PER_OWNER = 2
/** Kept for those who read them; the oldest go. */
const MAX_KEPT = 200
const KEPT_MS = 300_000

interface Kept {
  why: Why
  owner: string
  share: string
  until: number
}

export function createWhys(clock: () => number): Whys {
  const kept = new Map<number, Kept>()
  let last = 0
  const sweep = () => {
    for (const [id, { until }] of kept) if (until <= clock() || kept.size >= MAX_KEPT) kept.delete(id)
  }
  return {
    gate: createGate(AT_ONCE, WAITING),
    open({ owner, share = owner }, address, visitor) {
      const own = [...kept.values()].filter((one) => one.share === share && one.why.state === 'looking')
      if (own.length >= PER_OWNER) throw new TooManyError(5)
      sweep()
      const steps = WHY_STEPS.map(
        (step): WhyStep => ({ step, state: 'waiting', seen: '', next: null, at: null }),
      )
      const begunAt = new Date(clock()).toISOString()
      const why: Why = { id: ++last, address, visitor, begunAt, state: 'looking', service: null, steps }
      kept.set(why.id, { why, owner, share, until: clock() + KEPT_MS })
      return why
    },
    get(owner, id) {
      const found = kept.get(id)
      if (!found || found.owner !== owner || found.until <= clock()) throw new NotFoundError('Trace')
      return found.why
    },
    note(why, step) {
      const at = new Date(clock()).toISOString()
      why.steps = why.steps.map((one) => (one.step === step.step ? { ...step, at } : one))
    },
  }
}
