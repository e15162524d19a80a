import { Navigate, useLocation } from 'react-router'
import { SignedIn } from '../../components/SignedIn.tsx'
import { urls } from '../../util/urls.ts'
import { findVisitedAddress } from '../../util/visited-address.ts'
import { WhyPage } from './WhyPage.tsx'

/** The page, for a person who comes by the link on a page of the proxy with the address that they come from. */
export function WhyArrival() {
  const { key, search } = useLocation()
  // The router's key of where a visit begins.
  const isBare = key === 'default' && search === '' && document.referrer !== ''
  const address = isBare ? findVisitedAddress(document.referrer, location.origin) : undefined
  if (address !== undefined) return <Navigate to={urls.why(address)} replace />
  return (
    <SignedIn>
      <WhyPage />
    </SignedIn>
  )
}
