import type { CreatedNode } from '@postern/contract/nodes'
import type { CreatedPat, Pat } from '@postern/contract/pats'
import { callApi } from '@postern/testkit/api'
import type { Locator, Page } from 'playwright'
import type { Site } from './harness.ts'

export const pats = ({ id }: { id: number }) => `/api/nodes/${id}/pats`
export const cardOf = (page: Page) => page.getByRole('region', { name: 'Node Access Tokens' })
export const formOf = (page: Page) => page.getByRole('dialog', { name: 'Access Token Configuration' })
export const readyOf = (page: Page) => page.getByRole('dialog', { name: 'New Access Token Generated' })
export const save = (page: Page) => formOf(page).getByRole('button', { name: 'Save' }).click()

export async function openForm(page: Page): Promise<Locator> {
  await cardOf(page).getByRole('button', { name: 'Add Token' }).first().click()
  const form = formOf(page)
  await form.waitFor()
  return form
}

/** What access token tests need of their site. */
export function createTokenSteps(site: Site) {
  return {
    createNode: (name: string): Promise<CreatedNode> => site.api.createNode({ name }),
    // `callApi` checks every answer against the contract, so it has the contract's type.
    list: async (node: CreatedNode) => (await site.api.call('GET', pats(node))).json as Pat[],
    add: async (node: CreatedNode, name: string, expireAt?: string) =>
      (await site.api.call('POST', pats(node), { name, expireAt })).json as CreatedPat,
    ask: (token: string) => callApi(site.paths.serverSocket, token, 'GET', '/api/agent/config'),
    open: (node: CreatedNode, query = '', options?: Parameters<Site['open']>[1]) =>
      site.open(`/nodes/${node.id}${query}`, options),
  }
}
