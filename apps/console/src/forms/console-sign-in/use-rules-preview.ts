import { consoleSignIn as endpoints } from '@postern/contract/endpoints/console-sign-in'
import type { RoleRule } from '@postern/contract/sign-in/console-providers'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useApi } from '../../api/context.ts'
import { useSettled } from '../../ui/use-settled.ts'
import { completeRules, decisionText } from './provider-values.ts'

/** How long nothing must be typed, in ms. */
const SETTLED = 250

/**
 * What the present rules make of the account that was tried, in words; undefined: not known yet.
 * @param trial tells one trial from the next; null: nothing was tried
 */
export function useRulesPreview(rules: readonly RoleRule[], trial: number | null): string | undefined {
  const api = useApi()
  const settled = useSettled(JSON.stringify(rules), SETTLED)
  const { data } = useQuery({
    queryKey: [endpoints.previewRules.path, trial, settled],
    queryFn: async ({ signal }) => {
      // Made of the rules a moment ago.
      const complete = completeRules(JSON.parse(settled) as RoleRule[])
      const preview = await api.call(endpoints.previewRules, { body: { rules: complete.rules }, signal })
      return preview.account ? decisionText(preview, complete.places) : undefined
    },
    enabled: trial !== null,
    placeholderData: keepPreviousData,
    retry: false,
  })
  return trial === null ? undefined : data
}
