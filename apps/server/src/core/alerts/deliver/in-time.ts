import { setTimeout as delay } from 'node:timers/promises'
import { DeliveryError } from './delivery-error.ts'

/** Less than a page waits for an answer. */
const WAIT_MS = 9000

/** Waits for a message on its way while a person waits, too. @returns why it was not sent, in words; null: it was */
export async function waitForDelivery(sent: Promise<void>): Promise<string | null> {
  const ending = new AbortController()
  try {
    await Promise.race([sent, tooLate(ending.signal)])
    return null
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error
    return error.message
  } finally {
    ending.abort()
  }
}

/** It may still arrive: nobody waits for it any more. */
async function tooLate(signal: AbortSignal): Promise<never> {
  await delay(WAIT_MS, undefined, { signal, ref: false }).catch(() => undefined)
  throw new DeliveryError(
    `Nothing was answered within ${WAIT_MS / 1000} seconds. The message may still arrive.`,
  )
}
