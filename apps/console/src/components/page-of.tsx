import { type ComponentType, lazy, useState } from 'react'
import { PageFailure } from './ErrorPages.tsx'

export type LoadPage = () => Promise<ComponentType>

/** A page of a file of its own. Once `load` is done it shows at once; else the page before it stays until then. */
export function pageOf(find: LoadPage): { Page: ComponentType; load: LoadPage } {
  let known: ComponentType | undefined
  const load = async () => {
    known ??= await find().catch(tellFailure)
    return known
  }
  const Loading = lazy(async () => ({ default: await load() }))
  const Page = () => {
    // The same for as long as it is shown.
    const [Shown] = useState(() => known ?? Loading)
    return <Shown />
  }
  return { Page, load }
}

function tellFailure(error: unknown): ComponentType {
  console.error('The page could not be loaded', error)
  return PageFailure
}
