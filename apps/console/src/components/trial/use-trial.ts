import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Trial } from '@postern/contract/sign-in/trials'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keyOf, useAnswer } from '../../api/queries.ts'

const EVERY_MS = 1500

/**
 * The last trial of this session; the tab is opened at once, because a browser allows it only right after the click.
 * @param start begins one at the server
 */
export function useTrial(start: () => Promise<{ address: string }>) {
  const queries = useQueryClient()
  const [blocked, setBlocked] = useState<string | null>(null)
  const [isWaiting, setWaiting] = useState(false)
  const { data } = useAnswer(endpoints.getTrial, {}, { refetchInterval: isWaiting && EVERY_MS })
  if (data && isWaiting !== (data.state === 'waiting')) setWaiting(data.state === 'waiting')
  const begin = useMutation({
    mutationFn: start,
    onSuccess: () => queries.setQueryData<Trial>(keyOf(endpoints.getTrial, {}), { state: 'waiting' }),
  })
  const open = () => {
    const tab = window.open('', '_blank')
    setBlocked(null)
    begin.mutate(undefined, {
      onSuccess({ address }) {
        if (!tab) return setBlocked(address)
        tab.opener = null
        tab.location.href = address
      },
      onError: () => tab?.close(),
    })
  }
  return { data, begin, blocked, open }
}

export type TrialUnderWay = ReturnType<typeof useTrial>
