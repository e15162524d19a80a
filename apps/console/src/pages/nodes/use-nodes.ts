import { endpoints } from '@postern/contract/endpoints'
import { Node } from '@postern/contract/nodes'
import * as z from 'zod/mini'
import type { ListParams } from '../../table/list-params.ts'
import { useList } from '../../table/use-list.ts'

const live = { stream: endpoints.streamNodes, rows: z.array(Node) }

/** One page of the nodes, followed live. */
export function useNodes(params: ListParams, onPage: (page: number) => void) {
  return useList({ endpoint: endpoints.listNodes, params, onPage, live })
}
