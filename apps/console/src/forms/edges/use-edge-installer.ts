import { edges as endpoints } from '@postern/contract/endpoints/edges'
import { useAnswer } from '../../api/queries.ts'

/**
 * The script that makes a machine an edge. The first answer takes seconds, so it is asked for before it is shown, and
 * again where that took too long.
 */
export const useEdgeInstaller = (enabled = true) =>
  useAnswer(
    endpoints.getEdgeInstaller,
    {},
    {
      ...{ enabled, staleTime: 300_000 },
      refetchInterval: (answer) => (answer ? undefined : 5000),
    },
  )
