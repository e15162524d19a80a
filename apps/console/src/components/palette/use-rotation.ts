import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { LIMITS } from '@postern/contract/limits'
import type { Node } from '@postern/contract/nodes'
import type { CreatedPat } from '@postern/contract/pats'
import { useNavigate } from 'react-router'
import { useApi } from '../../api/context.ts'
import { useRules } from '../../api/rules.ts'
import { toast } from '../../ui/feedback/Toasts.tsx'
import { urls } from '../../util/urls.ts'
import { attempt } from '../ask.ts'
import { useTokenActions } from '../tokens/use-token-actions.tsx'

/** Rotates the token of a node. Of several a person chooses one on the node's page. */
export function useRotation(onCreated: (token: CreatedPat) => void) {
  const api = useApi()
  const navigate = useNavigate()
  const actions = useTokenActions()
  const can = useRules().token
  return ({ id, name }: Node) =>
    void attempt(async () => {
      const query = { limit: LIMITS.maxPageSize }
      const { data } = await api.listPage(endpoints.listTokens, { params: { nodeId: id }, query })
      const [token, ...others] = data.filter(can.rotate)
      if (token && others.length === 0) return void actions.rotate(token, onCreated)
      await navigate(urls.node(id))
      toast.info(token ? 'Choose which token to rotate.' : 'No token to rotate: add one.', name)
    })
}
