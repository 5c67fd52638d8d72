/** A session without messages: what to ask, made from the repository that is open. */
import { run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { Button } from "../../shared/ui";
import { providersStore } from "../providers";
import { workspaceStore } from "../workspace";
import styles from "./EmptySession.module.css";

export function EmptySession() {
  const name = useStore(workspaceStore, (state) => state.name);
  const changed = useStore(workspaceStore, (state) => state.git?.entries.length ?? 0);
  const practice = useStore(providersStore, (state) => {
    const chosen = state.providers.find((provider) => provider.id === state.chosen?.provider);
    return (chosen ?? state.providers.find((provider) => provider.isDefault))?.family === "scripted";
  });
  const tasks = [
    "Explain how this project is built and where to start reading.",
    // The words the practice model answers to.
    practice ? "Run the tests and fix the first failure." : "Run the tests and fix what fails.",
    ...(changed > 0 ? ["Review my uncommitted changes."] : []),
  ];
  const unready = useStore(providersStore, (state) => state.loaded && !state.providers.some((provider) => provider.ready));
  if (unready) return <NoModel />;
  return (
    <div className={styles.empty}>
      <h2 className={styles.title}>What should change in {name}?</h2>
      <ul className={styles.tasks}>
        {tasks.map((task) => (
          <li key={task}>
            <button type="button" className={styles.task} onClick={() => run("composer.insert", task)}>
              {task}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Without a model the rest still works; the sample brings its own, which needs no key. */
function NoModel() {
  return (
    <div className={styles.empty}>
      <h2 className={styles.title}>Connect a model to chat</h2>
      <p className={styles.lead}>Files and editor work without one. The sample project has a practice model that needs no key.</p>
      <div className={styles.actions}>
        <Button look="primary" onClick={() => run("model.connect")}>
          Connect a model
        </Button>
        <Button onClick={() => run("workspace.sample")}>Try the sample project</Button>
      </div>
    </div>
  );
}
