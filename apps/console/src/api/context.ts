import { createContext, useContext } from 'react'
import type { Session } from '../stores/session.ts'
import type { Api } from './client.ts'

export interface ConsoleContext {
  api: Api
  session: Session
}

export const Console = createContext<ConsoleContext | null>(null)

function useConsole(): ConsoleContext {
  const context = useContext(Console)
  if (!context) throw new Error('The console context exists only inside main.tsx')
  return context
}

export const useApi = () => useConsole().api
export const useSession = () => useConsole().session
