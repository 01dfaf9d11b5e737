// Who asks for the Matmul API's block: the cube core itself, or its vector cores by messages.
#include <deque>
#include <map>

#include "cube.h"
#include "fiber.h"
#include "conflicts.h"
#include "gm.h"
#include "matmul.h"
#include "signals.h"

namespace dav {
namespace {

// What the vector cores of a block have asked of its cube core.
struct Job {
    DavMatmul product;
    const void* site;
    uint32_t asked;     // the signal that it may start
    uint32_t answered;  // the signal that it is done
    Release release;
    // The second vector core of a block whose A and B are both shared: it waits for the first
    // one's product and asks for nothing itself.
    bool echo = false;
    Release done{0, 0};
    bool finished = false;
};
struct Mailbox {
    std::deque<Job> jobs;
    size_t next = 0;
    int quit = 0;
    size_t shared = 0;        // products of which A and B are shared that are done
    std::deque<Job*> echoes;  // that wait for theirs
    size_t echoed = 0;
};
std::map<int, Mailbox> mailboxes;  // by block

bool something_to_do(void* raw) {
    const auto* box = static_cast<Mailbox*>(raw);
    return box->next < box->jobs.size() || box->quit == launch().vectors_per_block;
}
bool job_finished(void* raw) { return static_cast<Job*>(raw)->finished; }

void answer(Job& job) {
    job.done = {current->index, release_segment()};
    send_signal(FIX, job.answered, "matmul_answer", job.site);
    job.finished = true;
}
// Echoes follow their products, in the order of both.
void answer_echoes(Mailbox& box) {
    while (!box.echoes.empty() && box.echoed < box.shared) {
        answer(*box.echoes.front());
        box.echoes.pop_front();
        ++box.echoed;
    }
}

}  // namespace
}  // namespace dav

using namespace dav;

void dav_matmul(const DavMatmul& product) {
    const void* site = __builtin_return_address(0);
    if (!passed_over("Matmul", site)) multiply(product, site);
}

int32_t dav_matmul_post(const DavMatmul& product) {
    const void* site = __builtin_return_address(0);
    if (launch().cubes_per_block == 0)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "Matmul is called on a vector core whose launch has no cube cores.");
    check_system_workspace("Matmul", site);
    Mailbox& box = mailboxes[current->block];
    const bool both = product.share_a && product.share_b;
    Job job{product, site, make_point(1, false), make_point(1, false), {0, 0}};
    job.echo = both && current->sub_block == 1;
    job.release = {current->index, release_segment()};
    // The message leaves when this core's results are in global memory.
    send_signal(MTE3, job.asked, "matmul_post", site);
    box.jobs.push_back(job);
    return static_cast<int32_t>(box.jobs.size() - 1);
}

void dav_matmul_wait(int32_t ticket) {
    const void* site = __builtin_return_address(0);
    Job& job = mailboxes[current->block].jobs[static_cast<size_t>(ticket)];
    wait_until(job_finished, &job, "a matrix product", site);
    receive_signal(job.answered, "matmul_wait", site);
    order_after({job.done});
}

void dav_matmul_quit() { ++mailboxes[current->block].quit; }

bool dav_matmul_serve() {
    const void* site = __builtin_return_address(0);
    if (launch().vectors_per_block == 0) return false;
    Mailbox& box = mailboxes[current->block];
    for (;;) {
        wait_until(something_to_do, &box, "a message of its vector cores", site);
        if (box.next == box.jobs.size()) return true;
        Job& job = box.jobs[box.next++];
        receive_signal(job.asked, "matmul_receive", job.site);
        order_after({job.release});
        if (job.echo) {
            box.echoes.push_back(&job);
        } else {
            multiply(job.product, job.site);
            answer(job);
            if (job.product.share_a && job.product.share_b) ++box.shared;
        }
        answer_echoes(box);
    }
}
