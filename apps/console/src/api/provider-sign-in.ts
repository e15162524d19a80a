import { login as endpoints } from '@postern/contract/endpoints/login'
import type { SignInWays } from '@postern/contract/sign-in/provider-login'
import { useEffect, useState } from 'react'
import { ApiError } from './api-error.ts'
import { useApi } from './context.ts'

/** The providers of the sign-in, asked for once; undefined as long as none is known. A page works without them. */
export function useSignInWays(): SignInWays | undefined {
  const api = useApi()
  const [ways, setWays] = useState<SignInWays>()
  useEffect(() => {
    const stop = new AbortController()
    api.call(endpoints.getSignInWays, { signal: stop.signal }).then(
      (answer) => {
        if (answer.providers.length > 0) setWays(answer)
      },
      () => {
        if (!stop.signal.aborted) console.warn('The providers of the sign-in could not be loaded')
      },
    )
    return () => stop.abort()
  }, [api])
  return ways
}

/** Whether providers send people back to this address of the console. */
export const isHome = ({ origin }: SignInWays): boolean => origin === location.origin

/** Goes to a provider. @throws ApiError for what is no address of the web, like a script */
export function leaveForProvider(address: string): void {
  if (!['https:', 'http:'].includes(URL.parse(address)?.protocol ?? ''))
    throw new ApiError('The provider has no address that a browser can open.', { status: 0, code: 'address' })
  location.assign(address)
}
