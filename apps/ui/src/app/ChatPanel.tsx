/** The middle column: session header, banners, timeline, composer. */
import { Composer } from "../features/composer";
import { InterruptedBanners, SessionHeader } from "../features/sessions";
import { AttentionStrip, TimelineView } from "../features/timeline";
import { ConnectionBanner } from "../features/status-bar";

export function ChatPanel() {
  return (
    <>
      <SessionHeader />
      <ConnectionBanner />
      <InterruptedBanners />
      <TimelineView />
      <AttentionStrip />
      <Composer />
    </>
  );
}
