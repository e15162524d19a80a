import { login as endpoints } from '@postern/contract/endpoints/login'
import type { SecondStep as Step } from '@postern/contract/sign-in/second-step'
import { useEffect, useEffectEvent } from 'react'
import { errorMessage } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { useArrival } from '../../components/sign-in/use-arrival.ts'
import { takeTicket } from '../../stores/brought-ticket.ts'
import { Spinner } from '../../ui/Button.tsx'

interface Props {
  onFailure: (message: string) => void
  onSecondStep: (begun: { username: string; step: Step['second_factor'] }) => Promise<void>
}

/** Ends a sign-in at a provider with what the browser has brought back. */
export function ProviderReturn({ onFailure, onSecondStep }: Props) {
  const api = useApi()
  const arrive = useArrival()
  const end = useEffectEvent(async (ticket: string) => {
    try {
      const { username, login } = await api.call(endpoints.loginByProvider, { body: { ticket } })
      if ('token' in login) await arrive(login, username)
      else await onSecondStep({ username, step: login.second_factor })
    } catch (error) {
      console.error('Signing in by the provider failed', error)
      onFailure(errorMessage(error))
    }
  })
  useEffect(() => {
    const ticket = takeTicket()
    if (ticket !== null) void end(ticket)
  }, [])
  return (
    <p className="login-return" role="status">
      <Spinner /> Signing you in
    </p>
  )
}
