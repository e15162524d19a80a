import * as z from 'zod/mini'
import type { Exec } from './exec.ts'
import { familyOf, ip, listRows } from './ip-command.ts'

const Row = z.object({
  addr_info: z.array(z.object({ local: z.string(), prefixlen: z.number(), scope: z.string() })),
})

/** Gives the interface exactly these addresses (`address/prefix`), besides what the kernel gives it itself. */
export async function applyAddresses(exec: Exec, name: string, wanted: readonly string[]): Promise<void> {
  const rows = await listRows(exec, Row, 'addr', 'show', 'dev', name)
  const found = rows
    .flatMap(({ addr_info }) => addr_info)
    .filter(({ scope }) => scope === 'global')
    .map(({ local, prefixlen }) => `${local}/${prefixlen}`)
  for (const address of found.filter((one) => !wanted.includes(one)))
    await ip(exec, familyOf(address), 'addr', 'del', address, 'dev', name)
  for (const address of wanted.filter((one) => !found.includes(one)))
    await ip(exec, familyOf(address), 'addr', 'add', address, 'dev', name)
}
