import { endpoints } from '@postern/contract/endpoints'
import { LIMITS } from '@postern/contract/limits'
import { useState } from 'react'
import { useList } from '../../table/use-list.ts'

/** One page of a node's HTTP services. */
export function useNodeServices(nodeId: number) {
  const [page, setPage] = useState(1)
  const list = useList({
    endpoint: endpoints.listNodeHttpServices,
    params: { page, limit: LIMITS.cardPageSize, search: '', type: '', sort: undefined },
    onPage: setPage,
    input: { params: { nodeId } },
  })
  return { list, page, setPage }
}
