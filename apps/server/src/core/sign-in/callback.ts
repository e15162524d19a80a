import { SIGN_IN } from '@postern/contract/sign-in/sign-in'
import type { Logger } from 'pino'
import { publicUrl, type ServerConfig } from '../../config.ts'
import { ProviderError } from './provider-error.ts'
import { failed, type Step } from './steps.ts'

/** The redirect address, which is registered at the provider. */
export function redirectUrlOf({ config }: { config: Pick<ServerConfig, 'settings' | 'publicHost'> }): string {
  return `${publicUrl(config)}${SIGN_IN.callback}`
}

/**
 * Logs a provider's failure for the operator, and shows the person who came a page.
 * @param again the address at which to begin again
 */
export async function orNoAnswer(
  { log }: { log: Logger },
  again: string,
  step: () => Promise<Step>,
): Promise<Step> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    log.warn({ reason: error.message }, 'a visitor could not be signed in')
    return failed('noAnswer', again)
  }
}
