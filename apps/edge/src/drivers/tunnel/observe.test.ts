import { tmpdir } from 'node:os'
import { createExec } from '@postern/host/exec'
import { expect, test } from 'vitest'
import { observeNetwork } from './observe.ts'

const run = async () => ({ code: 0, stdout: '[]\n[]\n', stderr: '' })
const look = (resolvConf: string) =>
  observeNetwork({ exec: { ...createExec(), run }, interface: 'pt0', resolvConf })

test('a machine may have no list of name servers', async () => {
  expect((await look('/nowhere')).occupied).toEqual([])
})

test('a list that cannot be read is not taken for none: a gateway could then take the name server over', async () => {
  await expect(look(tmpdir())).rejects.toThrow('EISDIR')
})
